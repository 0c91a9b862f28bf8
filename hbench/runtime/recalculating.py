"""Values for formulas, and grading with them: what LibreOffice computes for a workbook while rollouts go on."""

import asyncio
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from hbench.core.failure import Failure
from hbench.core.question import Question
from hbench.core.recalculation import FOLDER, UNCACHED
from hbench.core.trajectory import Work
from hbench.engines.jail.grade_run import GradeLimits
from hbench.engines.recalculate import Recalculation
from hbench.runtime.local import in_thread
from hbench.runtime.loop import Interrupted

# A workbook is read in a fraction of a second; a busy machine may take many, and must not decide a grade.
_LIMITS = GradeLimits(timeout_s=60.0)


class Recalculator:
    """One a run. LibreOffice runs once a call, at most one for every two cores at a time; others wait their turn."""

    def __init__(self, sandbox: str, look: Callable[[], None]):
        self._sandbox, self._look = sandbox, look
        self._slots = asyncio.Semaphore(max(1, len(os.sched_getaffinity(0)) // 2))

    async def workbooks(self, files: Mapping[str, bytes]) -> dict[str, bytes] | Failure:
        """See engines.recalculate. LibreOffice ends when this is cancelled. Raises StepError."""
        stopped = threading.Event()

        def look() -> None:
            self._look()
            if stopped.is_set():
                raise Interrupted

        async with self._slots:
            ran = asyncio.wrap_future(in_thread(Recalculation(self._sandbox, look).workbooks, files))
            ran.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # seen, if nobody waits any more
            try:
                return await asyncio.shield(ran)
            finally:
                stopped.set()


async def graded_work(stage: Any, work: Work, question: Question) -> dict[str, float] | Failure:
    """The domain's grades of `work`. Where a formula without a value decides, and the domain has formulas recalculated, it is
    graded once more with the values that LibreOffice finds.

    stage: has setting, jails, domain (the block) and recalculator (or None). Raises StepError.
    """
    found = await stage.jails.grade_work(stage.domain, work, question, _LIMITS)
    wanted = isinstance(found, Failure) and found.kind == UNCACHED and stage.recalculator is not None
    if not wanted or getattr(stage.setting.domain, "recalculate", "never") == "never":
        return found
    made = await stage.recalculator.workbooks(work.files)
    if isinstance(made, Failure):  # one of them spoils it for all
        alone = [await stage.recalculator.workbooks({path: content}) for path, content in work.files.items()]
        copied = {path: copy for one in alone if not isinstance(one, Failure) for path, copy in one.items()}
        if not copied:
            return made
        made = copied
    copies = {FOLDER + path: content for path, content in made.items()}
    return await stage.jails.grade_work(stage.domain, Work(work.answer, {**work.files, **copies}), question, _LIMITS)
