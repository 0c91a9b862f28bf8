"""The zygotes of one purpose: the first is started when needed, more as they get busy, dead ones are replaced."""

import asyncio
from collections.abc import Sequence

from hbench.core.failure import HbenchError, StepError
from hbench.engines.jail import start
from hbench.engines.jail.zygote import Zygote

_BUSY = 2  # children in flight that make one more zygote worth its start


class Pool:
    """packages: files and folders of what the Python of a workspace can import."""

    def __init__(self, sandbox: str, purpose: start.Purpose, most: int, packages: Sequence[str] = ()):
        self._sandbox, self._purpose, self._most, self._packages = sandbox, purpose, most, packages
        self._zygotes: list[Zygote] = []
        self._first = asyncio.Lock()
        self._growing: asyncio.Task | None = None

    @property
    def kind(self) -> str:
        """The sandbox that its zygotes got; "" while there is none."""
        return self._zygotes[0].recipe.sandbox if self._zygotes else ""

    async def zygote(self) -> Zygote:
        """The least busy one. Raises HbenchError when no jail can be had."""
        if not all(zygote.alive for zygote in self._zygotes):
            self._forget_dead()
        if not self._zygotes:
            async with self._first:
                if not self._zygotes:
                    self._zygotes.append(await start_zygote(self._sandbox, self._purpose, self._packages))
        best = min(self._zygotes, key=_children)
        if len(best.children) >= _BUSY and len(self._zygotes) < self._most and self._growing is None:
            self._growing = asyncio.ensure_future(self._grow())
        return best

    async def _grow(self) -> None:
        try:
            self._zygotes.append(await start_zygote(self._sandbox, self._purpose, self._packages))
        except HbenchError:
            self._most = len(self._zygotes)  # the ones that run have to do
        finally:
            self._growing = None

    def _forget_dead(self) -> None:
        for dead in [zygote for zygote in self._zygotes if not zygote.alive]:
            self._zygotes.remove(dead)
            dead.close()

    async def close(self) -> None:
        if self._growing is not None:
            await self._growing
        zygotes, self._zygotes = self._zygotes, []
        for zygote in zygotes:
            zygote.dismiss()
        for zygote in zygotes:
            await zygote.left()  # the loop has others to end meanwhile


def _children(zygote: Zygote) -> int:
    return len(zygote.children)


async def start_zygote(sandbox: str, purpose: start.Purpose, packages: Sequence[str] = ()) -> Zygote:
    """A warm zygote by the first recipe that works here. Raises HbenchError, saying what to do, when none does."""
    reasons = []
    for recipe in start.recipes(sandbox, purpose):
        if trouble := start.covered(recipe, purpose, packages):
            reasons.append(f"{recipe.sandbox}: {trouble}")
            continue
        zygote = Zygote(recipe, purpose, packages)
        try:
            await zygote.start()
            return zygote
        except (StepError, OSError) as trouble:
            reasons.append(f"{recipe.sandbox}: {trouble}")
    raise HbenchError(
        "no jail can be had on this machine, so model-written code is not run.\n  "
        + "\n  ".join(reasons or [f"{sandbox}: not a sandbox (auto, namespaces, landlock, none)"])
        + "\n  Install bubblewrap, or allow user namespaces, or use a kernel with Landlock (5.13 or newer);"
        "\n  `machine.sandbox: none` in a spec runs the code unconfined, and is recorded."
    )
