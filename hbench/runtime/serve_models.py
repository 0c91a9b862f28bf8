"""The driver's own models for the processes it starts: an OpenAI-compatible server on this machine, and its client.

What is asked through it is the same request as if the driver had asked: it has the same id, and its reply is kept in the
driver's reply store.
"""

import asyncio
import copy
import json
import re
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from hbench.core.budget import REFUSED
from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.message import LMError, Message, Reply, Request, Sampling
from hbench.core.model import ModelRef
from hbench.core.protocols import LM
from hbench.runtime.pay_desk import OF, PayDesk

EXACT = "hbench_request"  # in a body: the request as it is, where the chat format would bend it
LARGEST_BODY = 2**28
_CHAT = frozenset({"model", "messages", "temperature", "max_tokens", "top_p", "seed", "stop", "tools", EXACT})
_TOLD = re.compile(r"\b[45]\d\d: (\w+): (.*)", re.DOTALL)


class ModelServer:
    """Serves at `host`, under a path that nobody can guess. Use it on the loop on which its models are asked.

    lm: key of the step that pays, model name, role of who asks -> the LM, opened when it is first asked. names: all models
    there are. desk: where calls are paid for that are put elsewhere. Below what `start` gives, /KEY/ROLE/v1 is an
    OpenAI-compatible server.
    """

    def __init__(
        self,
        lm: Callable[[str, str, str], LM],
        names: Collection[str],
        host: str = "127.0.0.1",
        desk: PayDesk | None = None,
    ):
        self._lm, self._names, self._host, self._secret = lm, names, host, secrets.token_urlsafe(24)
        self._desk = desk
        self._runner: Any = None

    async def start(self) -> str:
        """Its address; who does not know it gets 404."""
        from aiohttp import web

        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_post(f"/{self._secret}/{{key}}/{{role}}/v1/chat/completions", self._chat)
        app.router.add_get(f"/{self._secret}/{{key}}/{{role}}/v1/models", self._models)
        if self._desk is not None:
            app.router.add_get(f"/{self._secret}/{OF}", self._desk.serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, 0, backlog=1024).start()
        return f"http://{self._host}:{self._runner.addresses[0][1]}/{self._secret}"

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _chat(self, asked: Any) -> Any:
        from aiohttp import web

        status, body = await self._answer(asked.match_info, await asked.read())
        return web.json_response(body, status=status)

    async def _models(self, _: Any) -> Any:
        from aiohttp import web

        return web.json_response({"object": "list", "data": [{"id": name, "object": "model"} for name in self._names]})

    async def _answer(self, place: Mapping[str, str], raw: bytes) -> tuple[int, Json]:
        try:
            body = json.loads(raw)
            name, request = body["model"], request_of(body)
            if name not in self._names:
                raise ValueError(f"there is no model {name!r} here")
        except (ValueError, KeyError, TypeError) as wrong:
            return _refusal(LMError("bad_request", f"{type(wrong).__name__} {wrong}"))
        try:
            (reply,) = await self._lm(place["key"], name, place["role"]).generate([request])
        except HbenchError as trouble:
            reply = LMError("server", str(trouble))
        return _refusal(reply) if isinstance(reply, LMError) else (200, _body(name, reply))


def request_of(body: Json) -> Request:
    """The request in a chat body. Raises ValueError, KeyError or TypeError where there is none."""
    if EXACT in body:
        body = json.loads(body[EXACT])
    extra = body["extra"] if "extra" in body else {key: value for key, value in body.items() if key not in _CHAT}
    stop = body.get("stop") or []
    sampling = Sampling(
        temperature=body.get("temperature", 1.0),
        max_tokens=body.get("max_tokens", 512),
        top_p=body.get("top_p", 1.0),
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
        extra=extra,
    )
    messages = tuple(Message(message["role"], message["content"]) for message in body["messages"])
    return Request(messages, sampling, body.get("seed", 0), body.get("tools"))


def _body(model: str, reply: Reply) -> Json:
    message = {"role": "assistant", "content": reply.text}
    message |= {"reasoning_content": reply.reasoning} if reply.reasoning else {}
    message |= {"tool_calls": reply.tool_calls} if reply.tool_calls else {}
    usage = {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        "reused": reply.reused,
    }
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    return {"object": "chat.completion", "model": model, "choices": [choice], "usage": usage}


def _refusal(error: LMError) -> tuple[int, Json]:
    """400 for what would be refused again; `ServedLM` reads the kind back from the message."""
    status = 400 if error.kind in ("bad_request", "too_long", REFUSED) else 500
    return status, {"error": {"message": f"{error.kind}: {error.message}"}}


class ServedLM:
    """A model of the driver's. Its replies are not stored here, and its calls not paid for: the driver does.

    address: of the driver's server, with the key of the step that pays.
    """

    def __init__(self, address: str, ref: ModelRef):
        from hbench.engines.openai_lm import OpenAILM, Reach

        # The driver may be long about it: one model in its process answers all ranks in turn.
        self._url, self._payer = address, None
        self._lm = OpenAILM(Reach(f"{address}/{ref.role}/v1", ref.digest, timeout_s=6 * 3600.0, retries=2))

    def paid_by(self, payer: Any) -> Self:
        """The same; `payer` is told what the driver paid, and where it would not."""
        made = copy.copy(self)
        made._payer = payer
        return made

    async def generate(self, requests: Sequence[Request]) -> list[Reply | LMError]:
        return list(await asyncio.gather(*map(self._one, requests)))

    async def check(self) -> None:
        await self._lm.check()

    async def close(self) -> None:
        await self._lm.close()

    async def _one(self, request: Request) -> Reply | LMError:
        return await (self._put(request) if self._payer is None else self._payer.pay(request, self._put))

    async def _put(self, request: Request) -> Reply | LMError:
        (reply,) = await self._lm.generate([_exact(request)])
        return self._plain(reply)

    def _plain(self, reply: Reply | LMError) -> Reply | LMError:
        """An error as the driver's engine told it, without the address, which is a secret."""
        if isinstance(reply, Reply):
            return reply
        if found := _TOLD.search(reply.message):
            return LMError(found[1], found[2])
        return replace(reply, message=reply.message.replace(self._url, "the driver"))


def _exact(request: Request) -> Request:
    """The same request, written out beside its chat format, which cuts stops, drops nulls and mends broken text."""
    sampling = request.sampling
    told = {
        "messages": [message.to_json() for message in request.messages],
        "seed": request.seed,
        "tools": request.tools,
        **sampling.to_json(),
    }
    plain = replace(sampling, stop=(), extra={EXACT: json.dumps(told)})
    return Request(request.messages, plain, request.seed, request.tools)
