"""Where another process pays for calls that it puts itself, so many at once: a WebSocket of the driver's, and its client."""

import asyncio
import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

from hbench.core.failure import OutOfBudget
from hbench.runtime.budget import Held, Payer

OF = "{key}/{role}/v1/pay/{model}"  # its path, below the secret of the driver's server


class PayDesk:
    """payer: key of the step that pays, model, role of who asks -> who pays. names: all models there are.

    told: called with calls and completion tokens, as they are settled. What a client holds is given back when it is gone.
    """

    def __init__(self, payer: Callable[[str, str, str], Payer], names: Collection[str], told: Callable[[int, int], None]):
        self._payer, self._names, self._told = payer, names, told

    async def serve(self, asked: Any) -> Any:
        """Answers {"ask": [[prompt, completion], …]} with {"may": how many, "why": …}; {"used": [prompt, completion],
        "seconds": …} settles those."""
        from aiohttp import web

        place = asked.match_info
        if place["model"] not in self._names:
            raise web.HTTPNotFound
        payer, held, line = self._payer(place["key"], place["model"], place["role"]), [], web.WebSocketResponse()
        await line.prepare(asked)
        try:
            async for message in line:
                told = json.loads(message.data)
                if "ask" in told:
                    held, why = await payer.hold([tuple(most) for most in told["ask"]])
                    await line.send_json({"may": len(held), "why": why})
                else:
                    held = self._settle(payer, held, tuple(told["used"]), told["seconds"])
        finally:
            self._settle(payer, held, (0, 0), 0.0)  # of a client that is gone: calls that may have got no reply
        return line

    def _settle(self, payer: Payer, held: list[Held], used: tuple[int, int], seconds: float) -> list[Held]:
        if held:
            payer.settle(held, used, seconds)
            self._told(len(held), used[1])
        return []


class Purser:
    """The client, for one thread without a loop of its own. address: RunServices.paid_at. Close it when done."""

    def __init__(self, address: str):
        self._runner = asyncio.Runner()
        self._session, self._line = self._runner.run(self._open(address))

    def hold(self, calls: Sequence[tuple[int, int]]) -> int:
        """How many of these calls may be put now. Raises OutOfBudget. calls: prompt and completion tokens each may take."""
        told = self._runner.run(self._ask(calls))
        if not told["may"]:
            raise OutOfBudget(told["why"])
        return told["may"]

    def settle(self, used: tuple[int, int], seconds: float) -> None:
        """The calls that were held for have ended. used: prompt and completion tokens of all together."""
        self._runner.run(self._line.send_json({"used": used, "seconds": seconds}))

    def close(self) -> None:
        """Returns when the driver has heard all."""
        self._runner.run(self._shut())
        self._runner.close()

    async def _open(self, address: str) -> tuple[Any, Any]:
        import aiohttp

        session = aiohttp.ClientSession()
        return session, await session.ws_connect(address)

    async def _ask(self, calls: Sequence[tuple[int, int]]) -> Any:
        await self._line.send_json({"ask": calls})
        return await self._line.receive_json()

    async def _shut(self) -> None:
        await self._line.close()
        await self._session.close()
