"""The front door: all jails of one run."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress

from hbench.core.digest import Json, Told
from hbench.core.failure import Failure, HbenchError
from hbench.core.question import Question
from hbench.core.trajectory import Work
from hbench.engines.jail.compiled import Compiled
from hbench.engines.jail.grade_run import GradeLimits, Grading
from hbench.engines.jail.harness_run import HarnessRun
from hbench.engines.jail.job import HarnessJob, Outcome
from hbench.engines.jail.packages import entries
from hbench.engines.jail.pool import Pool
from hbench.engines.jail.python_run import run_python
from hbench.engines.jail.workspace_run import Workspace, WorkspaceLimits
from hbench.engines.jail.zygote import Zygote, ZygoteDied, allow_many_descriptors

_MOST_GRADERS = 8  # each holds its own copy of the libraries
_MOST_WORKSPACES = 4  # zygotes for one set of packages: a session costs its zygote a fork, and nothing after


class Jails:
    """Use from one asyncio loop: hundreds of jobs in flight, none holds a thread. Close it when done.

    sandbox: auto, namespaces, landlock or none (no confinement: only when asked aloud); the variable
    HBENCH_JAIL says which one auto is. zygotes: at most so many of each sort, one a core when not said.
    """

    def __init__(self, sandbox: str = "auto", zygotes: int | None = None):
        self.sandbox = chosen(sandbox)
        count = zygotes or len(os.sched_getaffinity(0))
        self._harness = Pool(self.sandbox, "harness", count)
        self._compiled = Compiled()
        self._python = Pool(self.sandbox, "python", count)
        self._grader = Pool(self.sandbox, "grader", min(count, _MOST_GRADERS))
        self._workspaces: dict[tuple[str, ...], Pool] = {}
        self._most = count
        self._gradings: dict[tuple[Zygote, str, str, GradeLimits], Grading] = {}
        self._expected: dict[str, asyncio.Future] = {}
        allow_many_descriptors()

    @property
    def kind(self) -> str:
        """What really confines: namespaces, landlock or none; "" before anything was started."""
        return next((pool.kind for pool in self._pools() if pool.kind), "")

    def _pools(self) -> list[Pool]:
        return [self._harness, self._python, self._grader, *self._workspaces.values()]

    async def run(self, job: HarnessJob) -> Outcome:
        """What came of one harness on one question. Raises StepError when a tool did, HbenchError without a jail."""
        run = HarnessRun(job)
        try:
            return await self._run(run)
        except ZygoteDied:
            if run.asked:
                raise
        return await self._run(HarnessRun(job))

    async def _run(self, run: HarnessRun) -> Outcome:
        program = await self._compiled.program(run.job.source, run.job.limits, self._harness)
        return await run.outcome(program, await self._harness.zygote())

    async def python(self, code: str, timeout_s: float = 5.0, memory_mb: int = 512, output_chars: int = 65_536) -> Json:
        """What `code` printed as a script of its own: {"stdout", "stderr", "ok"}. Nothing the code does raises."""
        try:
            return await run_python(await self._python.zygote(), code, timeout_s, memory_mb, output_chars)
        except ZygoteDied:
            return await run_python(await self._python.zygote(), code, timeout_s, memory_mb, output_chars)

    async def workspace(self, packages: Sequence[str] = (), limits: WorkspaceLimits = WorkspaceLimits()) -> Workspace:
        """A workspace, not opened yet, whose Python can import the distributions `packages` and what they need.

        Raises HbenchError for one that is not installed.
        """
        key = tuple(sorted(set(packages)))
        if key not in self._workspaces:
            most = min(self._most, _MOST_WORKSPACES)
            self._workspaces[key] = Pool(self.sandbox, "workspace", most, entries(key))
        return Workspace(self._workspaces[key], limits)

    async def grade(
        self, family: Json, answer: str, question: Question, limits: GradeLimits = GradeLimits()
    ) -> dict[str, float] | Failure:
        """The family's grades of `answer`, each in [0, 1], or a grader Failure.

        family: the block as Part.to_json writes it. Raises StepError when the family cannot be loaded.
        """
        return await self._graded("families", family, Work(answer), question, limits)

    def expect(self, family: Told, question: Question) -> None:
        """Has what grades answers of `family` loaded while the first ones are still made; `grade` tells of trouble with it."""
        if family.digest not in self._expected:
            self._expected[family.digest] = asyncio.ensure_future(self._load(family, question))

    async def _load(self, family: Told, question: Question) -> None:
        with suppress(HbenchError):
            await (await self._grading("families", family, GradeLimits())).prepared(question)

    async def grade_work(
        self, domain: Json, work: Work, question: Question, limits: GradeLimits = GradeLimits()
    ) -> dict[str, float] | Failure:
        """The domain's grades of what a student left, as `grade` gives those of a family.

        domain: the block as Part.to_json writes it. Raises StepError when the domain cannot be loaded.
        """
        return await self._graded("domains", domain, work, question, limits)

    async def _graded(self, sort: str, block: Json, work: Work, question: Question, limits: GradeLimits):
        try:
            return await (await self._grading(sort, block, limits)).grade(work, question)
        except ZygoteDied:
            return await (await self._grading(sort, block, limits)).grade(work, question)

    async def _grading(self, sort: str, block: Json, limits: GradeLimits) -> Grading:
        zygote = await self._grader.zygote()
        known = block if isinstance(block, Told) else Told(block)
        key = (zygote, sort, known.digest, limits)
        if key not in self._gradings:
            self._gradings = {key: grading for key, grading in self._gradings.items() if key[0].alive}
            self._gradings[key] = Grading(zygote, sort, known, limits)
        return self._gradings[key]

    async def close(self) -> None:
        """Ends every zygote and every child."""
        for loading in self._expected.values():
            loading.cancel()
        await asyncio.gather(*(pool.close() for pool in self._pools()))


def chosen(sandbox: str) -> str:
    """`auto` is what HBENCH_JAIL says (namespaces or landlock), else still auto. No variable can take the jail away."""
    asked = os.environ.get("HBENCH_JAIL", "")
    return asked if sandbox == "auto" and asked in ("namespaces", "landlock") else sandbox
