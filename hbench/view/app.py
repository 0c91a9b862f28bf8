"""The web page as an application: every module of this folder that has ROUTES gives pages.

ROUTES is a list of (path, function) or (path, function, methods). A function takes the request and gives a response,
most often with `page` of hbench.view.page; it runs on a thread of its own, so it may wait for a query. It asks its
queries of `request.state.reading`, one connection for all of them; `request.app.state.reading` says what is read.
"""

import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import hbench.view
from hbench.core.failure import HbenchError
from hbench.view.guard import Guard
from hbench.view.page import page
from hbench.view.reading import Reading


def application(reading: Reading, port: int) -> Any:
    """The application over what `reading` reads. It answers only requests that name this machine's `port`."""
    from starlette.applications import Starlette
    from starlette.responses import RedirectResponse
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    routes = [Route(path, _up_to_date(answer, methods), methods=list(methods)) for path, answer, methods in _found()]
    routes.append(Route("/", lambda request: RedirectResponse("/runs")))
    routes.append(Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")))
    app = Starlette(
        routes=routes,
        exception_handlers={404: _nothing_here, HbenchError: _told, Exception: _broken},
    )
    app.state.reading = reading
    return Guard(app, port)  # around all of it: what Starlette says of a bug of ours is guarded too


def _found() -> Iterator[tuple[str, Callable, tuple[str, ...]]]:
    for module in pkgutil.iter_modules(hbench.view.__path__):
        for path, answer, *methods in getattr(import_module(f"hbench.view.{module.name}"), "ROUTES", ()):
            yield path, answer, tuple(methods[0]) if methods else ("GET",)


def _up_to_date(answer: Callable, methods: tuple[str, ...]) -> Callable:
    """The same function; what has finished is folded in before, as far as that takes no time.

    A form that was posted is name -> value under `request.state.form`.
    """

    def answered(request: Any) -> Any:
        reading = request.app.state.reading
        reading.catch_up()
        with reading.held() as request.state.reading:
            return answer(request)

    async def posted(request: Any) -> Any:
        from starlette.concurrency import run_in_threadpool

        request.state.form = dict(parse_qsl((await request.body()).decode(), keep_blank_values=True))
        return await run_in_threadpool(answered, request)

    return posted if "POST" in methods else answered


def _nothing_here(request: Any, trouble: Exception) -> Any:
    return page(request, "trouble.html", status=404, title="Not here", told=f"There is no page {request.url.path}.")


def _told(request: Any, trouble: Exception) -> Any:
    return page(request, "trouble.html", status=getattr(trouble, "status", 400), title="That did not work", told=str(trouble))


def _broken(request: Any, trouble: Exception) -> Any:
    told = f"{type(trouble).__name__}: {trouble}"
    return page(request, "trouble.html", status=500, title="hbench has a bug here", told=told)
