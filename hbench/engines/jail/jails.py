"""The front door: all jails of one run."""

import asyncio
import os

from hbench.core.digest import Json
from hbench.core.failure import Failure, HbenchError, StepError
from hbench.core.question import Question
from hbench.engines.jail import start
from hbench.engines.jail.harness_run import HarnessRun
from hbench.engines.jail.job import HarnessJob, Outcome
from hbench.engines.jail.python_run import run_python
from hbench.engines.jail.zygote import Zygote, ZygoteDied, allow_many_descriptors


class Jails:
    """Use from one asyncio loop: hundreds of jobs in flight, none holds a thread. Close it when done.

    sandbox: auto, namespaces, landlock or none (no confinement: only when asked aloud). zygotes: of each sort, one a core.
    """

    def __init__(self, sandbox: str = "auto", zygotes: int | None = None):
        self._sandbox = os.environ.get("HBENCH_JAIL") or sandbox if sandbox == "auto" else sandbox
        self._count = zygotes or len(os.sched_getaffinity(0))
        self._pools: dict[str, list[Zygote]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        allow_many_descriptors()

    async def run(self, job: HarnessJob) -> Outcome:
        """What came of one harness on one question. Raises StepError when a tool did, or no jail can be had."""
        run = HarnessRun(job)
        try:
            return await run.outcome(await self._zygote("harness"))
        except ZygoteDied:
            if run.asked:
                raise
        return await HarnessRun(job).outcome(await self._zygote("harness"))

    async def python(self, code: str, timeout_s: float = 5.0, memory_mb: int = 512, output_chars: int = 65_536) -> Json:
        """What `code` printed as a script of its own: {"stdout", "stderr", "ok"}. Whatever it does is in there; none of it raises."""
        try:
            return await run_python(await self._zygote("python"), code, timeout_s, memory_mb, output_chars)
        except ZygoteDied:
            return await run_python(await self._zygote("python"), code, timeout_s, memory_mb, output_chars)

    async def _zygote(self, purpose: start.Purpose) -> Zygote:
        """The least busy one; started now if there is none, or if one has died."""
        async with self._locks.setdefault(purpose, asyncio.Lock()):
            pool = self._pools.setdefault(purpose, [])
            for dead in [zygote for zygote in pool if not zygote.alive]:
                pool.remove(dead)
                dead.close()
            if len(pool) < self._count:
                pool += await asyncio.gather(*(start_zygote(self._sandbox, purpose) for _ in range(self._count - len(pool))))
        return min(pool, key=lambda zygote: len(zygote.children))

    async def close(self) -> None:
        """Ends every zygote and every child."""
        for pool in self._pools.values():
            for zygote in pool:
                zygote.close()
        self._pools.clear()


async def start_zygote(sandbox: str, purpose: start.Purpose) -> Zygote:
    """A warm zygote by the first recipe that works here. Raises HbenchError, saying what to do, when none does."""
    reasons = []
    for recipe in start.recipes(sandbox):
        zygote = Zygote(recipe, purpose)
        try:
            await zygote.start()
            return zygote
        except (StepError, OSError) as trouble:
            reasons.append(f"{recipe.sandbox}: {trouble}")
    raise HbenchError(
        "no jail can be had on this machine, so model-written code is not run.\n  "
        + "\n  ".join(reasons)
        + "\n  Install bubblewrap, or allow user namespaces, or use a kernel with Landlock (5.13 or newer);"
        "\n  `machine.sandbox: none` in a spec runs the code unconfined, and is recorded."
    )
