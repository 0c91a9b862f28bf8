"""Grading from the driver's side: gold and answer go in, numbers come out, in a process that holds nothing else."""

import asyncio
import base64
import json
import signal
from dataclasses import dataclass

from hbench.core.digest import Json, Told
from hbench.core.failure import Failure, StepError
from hbench.core.question import Question
from hbench.core.trajectory import Work
from hbench.engines.jail.channel import BadMessage, Channel
from hbench.engines.jail.clock import Clock
from hbench.engines.jail.inside.wire import FORK_FAILED
from hbench.engines.jail.zygote import Child, Ended, Zygote, ZygoteDied

OF_ANY = ("memory", "crash")  # kinds of failure that whatever grades may have
_REPLY_CHARS = 100_000
_WORKER_CPU_S = 86_400.0


@dataclass(frozen=True, slots=True)
class GradeLimits:
    """Of one answer. timeout_s: wall time, and CPU time where each answer has a process of its own."""

    timeout_s: float = 10.0
    memory_mb: int = 1024


class Grading:
    """One family or domain graded in one zygote. `prepare` before the first answer. sort: families or domains."""

    def __init__(self, zygote: Zygote, sort: str, block: Told, limits: GradeLimits):
        self._zygote, self._sort, self._block, self._limits = zygote, sort, block, limits
        self._grader = f"{sort} {block.digest}"  # its name in the zygote
        self._kinds = OF_ANY
        self._prepared: asyncio.Future | None = None
        self._worker: _Grader | None = None
        self._turn = asyncio.Lock()

    async def grade(self, work: Work, question: Question) -> dict[str, float] | Failure:
        """Each grade in [0, 1], or what broke. Raises StepError when the family or domain cannot be loaded."""
        files = {path: base64.b64encode(content).decode() for path, content in work.files.items()}
        request = {"grader": self._grader, "question": question.to_json(), "answer": work.answer, "files": files}
        if await self.prepared(question):
            grader = _Grader(self._zygote, self._limits, self._limits.timeout_s, self._kinds)
            try:
                return await grader.grade(request)
            finally:
                grader.close()
        async with self._turn:
            return await self._by_worker(request)

    async def _by_worker(self, request: Json) -> dict[str, float] | Failure:
        """One process for many answers: this grading runs no foreign code. A failure ends it."""
        if self._worker is None:
            self._worker = _Grader(self._zygote, self._limits, _WORKER_CPU_S, self._kinds)
        verdict: dict | Failure = Failure("grader", "crash", "grading was cut short")
        try:
            verdict = await self._worker.grade(request)
            return verdict
        finally:
            if isinstance(verdict, Failure):
                self._worker.close()
                self._worker = None

    async def prepared(self, question: Question) -> bool:
        """Loads what grades, once, by the example of `question`; whether each answer gets a process of its own. Raises StepError."""
        if self._prepared is None:
            self._prepared = asyncio.ensure_future(self._prepare(question))
        return await asyncio.shield(self._prepared)

    async def _prepare(self, question: Question) -> bool:
        channel = Channel(_REPLY_CHARS)
        try:
            self._zygote.order(b"P", descriptors=[channel.theirs.fileno()])
            channel.theirs.close()
            channel.send({"grader": self._grader, "sort": self._sort, "block": self._block, "question": question.to_json()})
            reply = await channel.receive()
        finally:
            channel.close()
        if reply is None:
            raise ZygoteDied("the grader jail's zygote died while it loaded what grades")
        if "error" in reply:
            sort = {"families": "family", "domains": "domain"}[self._sort]
            raise StepError(f"the {sort} {self._block.get('kind')!r} cannot grade: {reply['error']}")
        self._kinds = (*OF_ANY, *map(str, reply["failure_kinds"]))
        return bool(reply["own_process_per_answer"])


class _Grader:
    """One grading process. kinds: of failure, as it may tell them; an answer that got hold of it could spell gold in another."""

    def __init__(self, zygote: Zygote, limits: GradeLimits, cpu_s: float, kinds: tuple[str, ...]):
        self._limits, self._kinds = limits, kinds
        self._channel = Channel(_REPLY_CHARS)
        order = {"memory_mb": limits.memory_mb, "cpu_s": cpu_s}
        self._child: Child = zygote.fork(order, [self._channel.theirs.fileno()])
        self._channel.theirs.close()
        self._late = False
        self._clock = Clock(limits.timeout_s, self._time_is_up)

    def _time_is_up(self) -> None:
        self._late = True
        self._child.kill()

    async def grade(self, request: Json) -> dict[str, float] | Failure:
        self._channel.send(request)
        await self._child.started
        self._clock.restart(self._limits.timeout_s)
        try:
            reply = await self._channel.receive()
        except BadMessage as bad:
            return Failure("grader", "crash", bad.failure.message)
        finally:
            self._clock.stop()
        return self._ended(await self._child.ended) if reply is None else _verdict(reply, self._kinds)

    def _ended(self, ended: Ended) -> Failure:
        if ended.status == FORK_FAILED:
            raise StepError("the grader jail cannot fork: this machine is out of processes or memory")
        if not self._late and ended.cpu_seconds <= self._limits.timeout_s:
            self._child.raise_if_starved(ended)
        if self._late or ended.signal in (signal.SIGXCPU, signal.SIGKILL):
            return Failure("grader", "timeout", f"grading took more than {self._limits.timeout_s:g} s")
        ending = signal.Signals(ended.signal).name if ended.signal else f"exit code {ended.code}"
        return Failure("grader", "crash", f"the grading process ended by itself: {ending}")

    def close(self) -> None:
        self._clock.stop()
        self._child.kill()
        self._channel.close()


def _is_grade(value: Json) -> bool:
    return isinstance(value, (int, float)) and 0.0 <= value <= 1.0


def _verdict(reply: dict, kinds: tuple[str, ...]) -> dict[str, float] | Failure:
    """The grades, checked again on this side; or the trouble."""
    grades = reply.get("grades")
    if isinstance(grades, dict) and grades and all(map(_is_grade, grades.values())):
        return {name: float(grade) for name, grade in grades.items()}
    trouble = reply.get("trouble")
    kind = trouble if trouble in kinds else "crash"
    return Failure("grader", kind, str(reply.get("message", f"not grades: {json.dumps(grades)}"))[:2000])
