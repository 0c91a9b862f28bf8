"""A model of a server that hbench starts."""

import asyncio
from collections.abc import Callable, Sequence

from hbench.core.failure import HbenchError
from hbench.core.message import LMError, Reply, Request
from hbench.engines.openai_lm import OpenAILM
from hbench.engines.vllm_server import VLLMServer

OWN_FAULT = ("bad_request", "too_long")  # of a request: no server would answer it otherwise


class StartedLM:
    """The server is up before anything is asked of it; when it dies, every request is told so with the end of its log.
    What was asked of it before it was forgiven (vllm_server.py) is asked again of its next life.

    opened: a client of the server as it lives now. Several models, a base and its adapters, may share one server.
    """

    def __init__(self, server: VLLMServer, opened: Callable[[], OpenAILM]):
        self.server, self._opened = server, opened
        self._clients: list[OpenAILM] = []
        self._life = 0
        self._rising: asyncio.Future | None = None

    async def generate(self, requests: Sequence[Request]) -> list[Reply | LMError]:
        if not self.server.is_up and (trouble := await self._rise()):
            return [trouble] * len(requests)
        client, life = self._client(), self._life
        replies = await client.generate(requests)
        lost = [i for i, reply in enumerate(replies) if isinstance(reply, LMError) and reply.kind not in OWN_FAULT]
        if lost and self.server.is_over(life):
            again = await self.generate([requests[i] for i in lost])
            for i, reply in zip(lost, again, strict=True):
                replies[i] = reply
        return replies

    async def check(self) -> None:
        """Starts the server. Raises HbenchError when it cannot be, or takes no adapter."""
        if trouble := await self._rise():
            raise HbenchError(trouble.message)
        await self._client().check()

    async def close(self) -> None:
        """The server goes on: the run that started it ends it."""
        await asyncio.gather(*(client.close() for client in self._clients))

    async def _rise(self) -> LMError | None:
        """Starting takes minutes, in a thread, once for all that ask meanwhile."""
        if self._rising is None or self._rising.done():
            self._rising = asyncio.ensure_future(asyncio.to_thread(self.server.up))
        try:
            await asyncio.shield(self._rising)
        except HbenchError as trouble:
            return LMError("server", str(trouble))
        return None

    def _client(self) -> OpenAILM:
        """A new one for every life of the server: it knows nothing of adapters that an earlier one was given."""
        if self._life != self.server.lives:
            self._clients.append(self._opened())
            self._life = self.server.lives
        return self._clients[-1]
