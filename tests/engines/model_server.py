"""A real HTTP server on this machine that speaks the OpenAI chat format, and misbehaves on request."""

import asyncio
import json
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Answer:
    """One HTTP answer. body: JSON, or bytes as they are. cut: bytes after which the connection is closed."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    wait_s: float = 0.0

    def encoded(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


def said(text: str | None, finish: str | None = "stop", **message: Any) -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    return Answer({"id": "x", "choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})


class ModelServer:
    """Plays `answers` in order, the last one for ever; a function is given the request's body. `asked`: all bodies."""

    def __init__(self, *answers: Answer | Callable[[dict], Answer], models: tuple[str, ...] | None = ("tiny",)):
        self.answers, self.models = list(answers), models
        self.asked: list[dict] = []
        self.headers: list[dict] = []
        self.in_flight = self.most_in_flight = 0
        self.base_url = ""

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(body)
        self.headers.append(dict(request.headers))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        answer = answer(body) if callable(answer) else answer
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(answer.wait_s)
        self.in_flight -= 1
        raw = answer.encoded()
        response = web.StreamResponse(status=answer.status, headers={**answer.headers, "Content-Length": str(len(raw))})
        await response.prepare(request)
        await response.write(raw if answer.cut is None else raw[: answer.cut])
        if answer.cut is not None:
            request.transport.close()
        return response

    async def list_models(self, _: web.Request) -> web.Response:
        if self.models is None:
            raise web.HTTPNotFound
        return web.json_response({"object": "list", "data": [{"id": name} for name in self.models]})


@asynccontextmanager
async def serving(*answers: Answer | Callable[[dict], Answer], **options: Any):
    """A ModelServer under a free port of this machine."""
    server = ModelServer(*answers, **options)
    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/chat/completions", server.chat)
    app.router.add_get("/v1/models", server.list_models)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.base_url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()
