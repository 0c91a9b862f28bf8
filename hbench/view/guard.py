"""What stands before every page: only this machine's own addresses, only this page's own requests, strict headers.

A page on the web may send requests to this port, or have a name of its own resolve to it. It is told apart by the
`Host` and `Origin` that browsers send and pages cannot forge.
"""

from collections.abc import Awaitable, Callable
from typing import Any

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """ASGI middleware. Refuses with 403, before any page is asked."""

    def __init__(self, app: Callable, port: int):
        self.app = app
        named = ("127.0.0.1", "localhost")
        self._hosts = {f"{name}:{port}" for name in named} | ({*named} if port == 80 else set())
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
        elif why := self._refused(scope):
            from starlette.responses import PlainTextResponse

            await PlainTextResponse(f"refused: {why}\n", 403)(scope, receive, _with_headers(send))
        else:
            await self.app(scope, receive, _with_headers(send))

    def _refused(self, scope: dict) -> str:
        """Why; empty when the request is fine."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD", "POST"):
            return "this page only answers GET and POST"
        headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        hosts = [value for name, value in headers if name == "host"]
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return "the request names another host"
        named = dict(headers)
        if "origin" in named and named["origin"].lower() not in self._origins:
            return "the request comes from another origin"
        if named.get("sec-fetch-site", "none") not in ("none", "same-origin") and not _is_followed_link(scope, named):
            return "the request comes from another site"
        return ""


def _is_followed_link(scope: dict, named: dict[str, str]) -> bool:
    """Somebody followed a link to a page, in a window of its own: that shows a page and tells its sender nothing."""
    document = named.get("sec-fetch-mode") == "navigate" and named.get("sec-fetch-dest") == "document"
    return document and scope["method"] in ("GET", "HEAD")


def is_own(request: Any) -> bool:
    """The request comes from this page or from the address bar, not from a link elsewhere."""
    return request.headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def _with_headers(send: Callable[[dict], Awaitable[None]]) -> Callable[[dict], Awaitable[None]]:
    async def sent(message: dict) -> None:
        if message["type"] == "http.response.start":
            kept = [(name, value) for name, value in message["headers"] if name.decode().lower() not in HEADERS]
            message = {**message, "headers": kept + [(n.encode(), v.encode()) for n, v in HEADERS.items()]}
        await send(message)

    return sent
