"""The front door: all jails of one run."""

import os

from hbench.core.digest import Json, canonical_json
from hbench.core.failure import Failure
from hbench.core.question import Question
from hbench.engines.jail.grade_run import GradeLimits, Grading
from hbench.engines.jail.harness_run import HarnessRun
from hbench.engines.jail.job import HarnessJob, Outcome
from hbench.engines.jail.pool import Pool
from hbench.engines.jail.python_run import run_python
from hbench.engines.jail.zygote import Zygote, ZygoteDied, allow_many_descriptors

_MOST_GRADERS = 8  # each holds its own copy of the libraries


class Jails:
    """Use from one asyncio loop: hundreds of jobs in flight, none holds a thread. Close it when done.

    sandbox: auto, namespaces, landlock or none (no confinement: only when asked aloud); the variable
    HBENCH_JAIL says which one auto is. zygotes: at most so many of each sort, one a core when not said.
    """

    def __init__(self, sandbox: str = "auto", zygotes: int | None = None):
        self.sandbox = chosen(sandbox)
        count = zygotes or len(os.sched_getaffinity(0))
        self._harness = Pool(self.sandbox, "harness", count)
        self._python = Pool(self.sandbox, "python", count)
        self._grader = Pool(self.sandbox, "grader", min(count, _MOST_GRADERS))
        self._gradings: dict[tuple[Zygote, bytes], Grading] = {}
        allow_many_descriptors()

    @property
    def kind(self) -> str:
        """What really confines: namespaces, landlock or none; "" before anything was started."""
        return next((pool.kind for pool in (self._harness, self._python, self._grader) if pool.kind), "")

    async def run(self, job: HarnessJob) -> Outcome:
        """What came of one harness on one question. Raises StepError when a tool did, HbenchError without a jail."""
        run = HarnessRun(job)
        try:
            return await run.outcome(await self._harness.zygote())
        except ZygoteDied:
            if run.asked:
                raise
        return await HarnessRun(job).outcome(await self._harness.zygote())

    async def python(self, code: str, timeout_s: float = 5.0, memory_mb: int = 512, output_chars: int = 65_536) -> Json:
        """What `code` printed as a script of its own: {"stdout", "stderr", "ok"}. Nothing the code does raises."""
        try:
            return await run_python(await self._python.zygote(), code, timeout_s, memory_mb, output_chars)
        except ZygoteDied:
            return await run_python(await self._python.zygote(), code, timeout_s, memory_mb, output_chars)

    async def grade(
        self, family: Json, answer: str, question: Question, limits: GradeLimits = GradeLimits()
    ) -> dict[str, float] | Failure:
        """The family's grades of `answer`, each in [0, 1], or a grader Failure.

        family: the block as Part.to_json writes it. Raises StepError when the family cannot be loaded.
        """
        try:
            return await (await self._grading(family, limits)).grade(answer, question)
        except ZygoteDied:
            return await (await self._grading(family, limits)).grade(answer, question)

    async def _grading(self, family: Json, limits: GradeLimits) -> Grading:
        zygote = await self._grader.zygote()
        self._gradings = {key: grading for key, grading in self._gradings.items() if key[0].alive}
        key = (zygote, canonical_json([family, limits.timeout_s, limits.memory_mb]))
        return self._gradings.setdefault(key, Grading(zygote, family, limits))

    async def close(self) -> None:
        """Ends every zygote and every child."""
        for pool in (self._harness, self._python, self._grader):
            await pool.close()


def chosen(sandbox: str) -> str:
    """`auto` is what HBENCH_JAIL says (namespaces or landlock), else still auto. No variable can take the jail away."""
    asked = os.environ.get("HBENCH_JAIL", "")
    return asked if sandbox == "auto" and asked in ("namespaces", "landlock") else sandbox
