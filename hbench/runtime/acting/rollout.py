"""One multi-turn rollout: the student proposes, a reviewer passes or replaces, the workspace executes (Harness-Zero, 3)."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hbench.core.action import EXECUTE_TOOL, Action, CallFailure
from hbench.core.cut import cut
from hbench.core.digest import Json
from hbench.core.failure import Failure, LimitReached
from hbench.core.message import Message
from hbench.core.prompt import Prompt, render
from hbench.core.protocols import LM
from hbench.core.question import Question
from hbench.core.rollout import Event, Rollout
from hbench.core.trajectory import Acted, Trajectory, Turn, Work
from hbench.engines.jail import Jails
from hbench.engines.jail.workspace_run import Called, Workspace, WorkspaceLimits
from hbench.runtime.acting import sub_speaker
from hbench.runtime.acting.bank_run import BankRun
from hbench.runtime.acting.conversation import Conversation
from hbench.runtime.acting.patience import Patience
from hbench.runtime.acting.reviewer import Reviewed, ReviewSession
from hbench.runtime.acting.shell import Shell
from hbench.runtime.acting.speaker import Speaker
from hbench.runtime.acting.sub_speaker import SubSpeaker
from hbench.runtime.model_calls import ModelCalls, TooLong, usage_of
from hbench.runtime.recalculating import Recalculator, graded_work
from hbench.steps.act_setting import ActSetting


@dataclass(frozen=True)
class Stage:
    """What all rollouts of one act step share. domain: the block as it is hashed. reviewer: None where nobody reviews.

    agent: the student's model as sub-agents ask it; None: as the student does.
    recalculator: for domains whose work holds formulas; None: they stay without values. reviewing: patience with a reviewer
    that hangs. grading: with a grader that crashes; one that always does cannot grade.
    """

    setting: ActSetting
    jails: Jails
    student: LM
    prompt: Prompt
    domain: Json
    reviewer: LM | None = None
    agent: LM | None = None
    recalculator: Recalculator | None = None
    reviewing: Patience = field(default_factory=Patience)
    grading: Patience = field(default_factory=Patience)


async def act_out(stage: Stage, question: Question, repeat: int) -> Acted:
    """The graded rollout. Raises StepError for infrastructure; every other trouble is the rollout's or a turn's Failure."""
    started, events = time.perf_counter(), []
    domain = stage.setting.domain
    served = await domain.open_services(question) if hasattr(domain, "open_services") else None
    work, answer = None, None
    try:
        acting = Acting(stage, question, repeat, events)
        workspace = await acting.open(served)
        try:
            answer, failure = await acting.to_the_end()
            if failure is None:
                work = Work(answer, await workspace.collect(domain.collected(question), stage.setting.target.most_collected))
        except LimitReached as over:  # what it leaves is too much
            failure = over.failure
        finally:
            await workspace.close()
    finally:
        left = await served.finish() if served else {}
    grades = None
    if work is not None:
        grades, failure = await graded(stage, Work(work.answer, {**work.files, **left}), question)
    return acted(stage, acting.trajectory(), answer, failure, grades, events, time.perf_counter() - started)


async def graded(stage: Any, work: Work, question: Question) -> tuple[Json, Failure | None]:
    """Grades of finished work; None and a grader Failure where grading broke on it. Raises StepError where it always does."""
    found = await graded_work(stage, work, question)
    if not isinstance(found, Failure):
        stage.grading.worked()
        return found, None
    if found.kind == "crash":
        stage.grading.failed(f"the grader of {stage.setting.domain.name} broke: {found.message}")
    return None, found


def acted(
    stage: Any,
    trajectory: Trajectory,
    answer: str | None,
    failure: Failure | None,
    grades: Json,
    events: Sequence[Event],
    seconds: float,
) -> Acted:
    """The record. grades: None where there are none: 0.0 under each name. It completed where its work could be graded."""
    setting = stage.setting
    rollout = Rollout(
        harness_id=setting.harness.id,
        question_id=trajectory.question_id,
        repeat=trajectory.repeat,
        answer=answer,
        grades=grades or dict.fromkeys(setting.domain.grade_names(), 0.0),
        completed=failure is None or failure.boundary == "grader",
        failure=failure,
        events=tuple(events),
        usage=usage_of(events, seconds),
    )
    return Acted(rollout, trajectory)


class Acting:
    """The turns of one rollout, and what takes part in them. `open` it first."""

    def __init__(self, stage: Stage, question: Question, repeat: int, events: list[Event]):
        setting, target = stage.setting, stage.setting.target
        self._stage, self._question, self._repeat, self._events = stage, question, repeat, events
        self._draw = (setting.seed, question.id, repeat)
        others = {sub_speaker.ROLE: stage.agent} if stage.agent else {}
        self._calls = ModelCalls(setting.student, stage.student, self._draw, events, others)
        self._bank = BankRun(setting.bank, stage.jails.python) if setting.bank else None
        tools = (EXECUTE_TOOL, *(self._bank.tools() if self._bank else ()))
        self._student = Speaker(self._calls, target.call, tools)
        self._head = tuple(self._opening(question.text, target.call.told(tools), target.agent))
        self._seen, self._turns, self._used = list(self._head), [], set()
        self._review = self._reviewer(tools) if setting.review else None

    def _reviewer(self, tools: Sequence[Any]) -> ReviewSession:
        review, stage = self._stage.setting.review, self._stage
        calls = ModelCalls(review.reviewer, stage.reviewer, self._draw, self._events)
        gold = self._question.answer if review.oracle else None
        call, ask = stage.setting.target.call, Conversation(calls).ask
        return ReviewSession(review, tools, call, ask, stage.jails.python, gold, stage.reviewing)

    def _opening(self, question: str, calls: str, agent: bool, notes: bool = True) -> list[Message]:
        """The student's messages before its first turn."""
        target = self._stage.setting.target
        told = {"turns": target.turns, "command_s": f"{target.command_s:g}", "agent": agent}
        told |= {"notes": self._bank.notes() if self._bank and notes else ""}
        return render(self._stage.prompt, {"question": question, "calls": calls, **told})

    async def open(self, served: Any) -> Workspace:
        """The workspace, with the question's files. served: what the domain offers beside it; None for nothing."""
        setting, stage = self._stage.setting, self._stage
        target, commands = setting.target, (*(served.commands if served else ()), *self._agents())
        files = await asyncio.to_thread(setting.domain.files, self._question)
        workspace = await stage.jails.workspace(setting.domain.packages, WorkspaceLimits(target.memory_mb, target.disk_mb))
        self._shell = Shell(workspace, target, self._events, setting.student.role, self._bank)
        below = Shell(workspace, target, self._events, sub_speaker.ROLE, called=_served(served, sub_speaker.refuse))
        agents = SubSpeaker(self._sub_speaker, self._sub_head, below, target.turns, target.observation_chars)
        called = _served(served, agents.called) if commands else None
        try:
            await workspace.open(files, self._bank.files() if self._bank else {}, commands, called)
        except BaseException:
            await workspace.close()
            raise
        return workspace

    def _agents(self) -> tuple[str, ...]:
        return (sub_speaker.COMMAND,) if self._stage.setting.target.agent else ()

    def _sub_speaker(self) -> Speaker:
        return Speaker(self._calls, self._stage.setting.target.call, (EXECUTE_TOOL,), sub_speaker.ROLE)

    def _sub_head(self, task: str) -> list[Message]:
        return self._opening(task, self._stage.setting.target.call.told((EXECUTE_TOOL,)), agent=False, notes=False)

    async def to_the_end(self) -> tuple[str | None, Failure | None]:
        """The final answer, or what kept it from one."""
        turns = self._stage.setting.target.turns
        try:
            for _ in range(turns):
                answer = await self._turn()
                if answer is not None:
                    return answer, None
        except TooLong as full:
            return None, Failure("limits", "context", str(full)[:2000])
        return None, Failure("limits", "turns", f"no answer within {turns} turns")

    async def _turn(self) -> str | None:
        """One turn, noted; the answer where it is the last."""
        seen = tuple(self._seen)
        reply = await self._student.say(seen)
        reviewed = await self._review.turn(seen, reply.text, reply.truncated) if self._review else Reviewed(reply.text)
        action, told = None, None
        try:
            action = self._student.read(reviewed.accepted, reply.truncated and reviewed.verdict == "pass")
            told, failure = await self._do(action, seen)
        except CallFailure as bad:
            told, failure = bad.message, Failure("parse", bad.kind, bad.message)
        self._note(reply.text, reviewed, action, told, failure)
        return action.text if told is None else None

    async def _do(self, action: Action, seen: Sequence[Message]) -> tuple[str | None, Failure | None]:
        """What the student is told of its action, None for a final answer; and what went wrong."""
        if self._bank and (refused := await self._bank.before(action, seen)) is not None:
            return refused, self._bank.take_failure() or Failure("harness", "refused", refused[:2000])
        if action.tool is None:
            return None, self._bank.take_failure() if self._bank else None
        told, failure = await self._shell.run(action)
        if self._bank:
            more = await self._bank.after(action, told, seen)
            broken = self._bank.take_failure()
            told, failure = cut(more, 2 * self._stage.setting.target.observation_chars), failure or broken
        return told, failure

    def _note(self, proposal: str, reviewed: Reviewed, action: Action | None, told: str | None, failure: Failure | None) -> None:
        observation = None if told is None else self._student.call.observation(told)
        used = set(self._bank.used) - self._used if self._bank else set()
        self._used |= used
        turn = Turn(
            proposal=proposal,
            verdict=reviewed.verdict,
            accepted=reviewed.accepted,
            observation=observation,
            tool=action.tool if action else None,
            failure=failure,
            hidden=reviewed.hidden,
            reason=reviewed.reason,
            components=(*reviewed.components, *sorted(used)),
            tries=reviewed.tries,
            checks=reviewed.checks,
            trouble=reviewed.trouble,
        )
        self._turns.append(turn)
        self._seen += [Message("assistant", reviewed.accepted), *([observation] if observation else [])]

    def trajectory(self) -> Trajectory:
        """What the student has lived through so far."""
        return Trajectory(self._question.id, self._repeat, self._head, tuple(self._turns))


def _served(served: Any, agent: Callable[[Sequence[str], str], Awaitable[str]]) -> Called:
    """What answers the programs of a workspace: `agent`, and those of the domain."""

    async def called(name: str, words: list[str], stdin: str) -> str:
        return await (agent(words, stdin) if name == sub_speaker.COMMAND else served.called(name, words, stdin))

    return called
