"""A harness compiled once: by a child that runs none of it, for all the children that will."""

import asyncio
from collections import OrderedDict

from hbench.core.digest import Json
from hbench.core.limits import Limits
from hbench.engines.jail.channel import BadMessage, Channel
from hbench.engines.jail.pool import Pool

_KEPT = 64  # harnesses


class Compiled:
    """Use from one asyncio loop."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, asyncio.Future] = OrderedDict()

    async def program(self, source: str, limits: Limits, pool: Pool) -> Json:
        """{"code": …} of `source`, as a child of any zygote of `pool` takes it.

        {"source": …} where it does not compile, or not without a warning: each child then says so itself. Raises ZygoteDied.
        """
        if source not in self._known:
            self._known[source] = asyncio.ensure_future(_compile(source, limits, pool))
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        self._known.move_to_end(source)
        try:
            return await asyncio.shield(self._known[source])
        except Exception:  # it was no word on the source: who comes next tries anew
            self._known.pop(source, None)
            raise


async def _compile(source: str, limits: Limits, pool: Pool) -> Json:
    zygote = await pool.zygote()
    channel = Channel(limits.message_chars)
    order = {"memory_mb": limits.memory_mb, "cpu_s": limits.cpu_s, "output_chars": 0}
    try:
        child = zygote.fork(order, [channel.theirs.fileno()])
        channel.theirs.close()
        channel.send({"compile": source})
        code = (await channel.receive() or {}).get("code")
        child.kill()
    except BadMessage:
        code = None
    finally:
        channel.close()
    return {"code": code} if isinstance(code, str) else {"source": source}
