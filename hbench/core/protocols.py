"""The contracts between packages: the LM, the services a step gets, and the extension points."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Protocol

from hbench.core.action import Action, Tool as StudentTool
from hbench.core.benchmark import Benchmarked, BenchmarkJob
from hbench.core.candidate import Candidate
from hbench.core.digest import Json
from hbench.core.failure import Failure
from hbench.core.harness import Harness
from hbench.core.limits import Limits
from hbench.core.message import LMError, Message, Reply, Request
from hbench.core.model import ModelRef
from hbench.core.output import Row
from hbench.core.outside import Finished
from hbench.core.question import Question
from hbench.core.rollout import Rollout
from hbench.core.scored import Scored
from hbench.core.standing import Standing
from hbench.core.training import Talk, Trained, TrainingJob, TurnTokens
from hbench.core.trajectory import Acted, Work

Tool = Callable[..., Awaitable[Json]]  # raises ToolError (told to the harness) or StepError (ends the step)


class LM(Protocol):
    """A language model behind some engine. Open it once, use it from one asyncio loop."""

    async def generate(self, requests: Sequence[Request]) -> list[Reply | LMError]:
        """Same length, same order; one bad request loses no other. Never raises for a request's own trouble."""
        ...

    async def close(self) -> None: ...


class Part(Protocol):
    """The unfinished folder of the running step: what was appended survives a kill -9."""

    folder: Path

    def append(self, rows: Mapping[str, Sequence[Row]]) -> None:
        """Durably adds rows of several tables as one atomic record."""
        ...

    def rows(self, table: str) -> list[dict]:
        """Rows that an earlier, interrupted try (or this one) appended."""
        ...


class Services(Protocol):
    """All that a step may touch besides its params and inputs. Implemented in runtime/services.py."""

    part: Part

    def ask(self, model: ModelRef, requests: Sequence[Request]) -> list[Reply]:
        """Replies in order. Raises StepError when one got none."""
        ...

    def run_harness(
        self,
        harness: Harness,
        questions: Sequence[Question],
        setting: "RunSetting",
        done: Callable[[Rollout], None],
        skip: Set[tuple[str, int]] = frozenset(),
    ) -> None:
        """Runs and grades `harness` on each question and repeat in the jail; `done` is called once a rollout, as each ends.

        skip: (question id, repeat) pairs that an earlier try has finished.
        Raises StepError on an infrastructure fault, after the rollouts that had ended were handed to `done`.
        """
        ...

    def act(
        self,
        setting: "ActSetting",
        questions: Sequence[Question],
        done: Callable[[Acted], None],
        skip: Set[tuple[str, int]] = frozenset(),
    ) -> None:
        """Lets a student work on each question and repeat in a workspace of its own, under review where there is one.

        `done` is called once a rollout, as each ends. skip: (question id, repeat) pairs that an earlier try has finished.
        Raises StepError on an infrastructure fault, after the rollouts that had ended were handed to `done`.
        """
        ...

    def tokenise(self, model: ModelRef, conversations: Sequence[tuple[Json, str]]) -> list[tuple[list[int], list[int]]]:
        """(input_ids, labels) of each (messages, completion); labels are -100 off the completion and its end marker.

        Raises StepError for a chat template under which that mask would be wrong.
        """
        ...

    def tokenise_turns(self, model: ModelRef, talks: Sequence[Talk]) -> list[list[TurnTokens] | str]:
        """The rows of each conversation: one, or one a turn where the chat template rewrites what was said before.

        A text says why that conversation cannot be trained: under its template the labels would be wrong. Raises StepError.
        """
        ...

    def train(self, job: TrainingJob) -> Trained:
        """Trains in processes of its own, on the step's part folder: a try after a kill goes on from the last checkpoint.

        Raises StepError.
        """
        ...

    def benchmark(self, job: BenchmarkJob) -> Benchmarked:
        """lm-eval's scores of a model, in a process of its own, which asks again only what had no answer before a kill.

        Each request is paid for by the step before it is put. Raises StepError.
        """
        ...

    def run_outside(self, words: Sequence[str], folder: Path, wall_s: float) -> Finished:
        """Runs a program of somebody else's in `folder`, with the user's rights and a clean environment, through no shell.

        Raises StepError when it cannot be started.
        """
        ...

    def recalculate(self, workbooks: Mapping[str, bytes]) -> Mapping[str, bytes] | Failure:
        """path -> the workbook with values for its formulas; a Failure where nothing can be made of one. Raises StepError."""
        ...

    def engine(self, model: ModelRef) -> str:
        """What serves the model, for the record; it is never hashed."""
        ...

    def report_progress(self, done: int, total: int) -> None: ...


class RunSetting(Protocol):
    """How a harness is run: see steps/run_setting.py."""

    family: "Family"
    solver: ModelRef
    limits: Limits
    seed: int
    repeats: int
    grade: str


class Family(Protocol):
    """A pool of questions and how an answer is graded. The validated YAML block is the family."""

    kind: str
    name: str
    own_process_per_answer: bool  # False only where grading is plain comparison in our own code

    def describe(self) -> str:
        """One or two sentences for the proposer: what is asked in this family. Holds no question."""
        ...

    def versions(self) -> Mapping[str, str]:
        """Libraries whose version decides questions or grades; part of what is hashed."""
        ...

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        """Questions `start` to `stop` of one pool; equal arguments give equal questions, duplicates are possible."""
        ...

    def grade(self, answer: str, question: Question) -> Mapping[str, float]:
        """Each in [0, 1], e.g. {"score": .., "exact": ..}. Pure. Runs in the grader jail, never in the driver."""
        ...

    def grade_names(self) -> tuple[str, ...]:
        """The names `grade` gives, the main one first; a rollout that did not complete has 0.0 under each."""
        ...


class ActSetting(Protocol):
    """How a student acts: see steps/act_setting.py."""

    domain: "Domain"
    student: ModelRef
    seed: int
    repeats: int
    grade: str


class Domain(Protocol):
    """Questions that are worked on in a workspace, and how what is left there is graded. The YAML block is the domain.

    A domain may have more: `failure_kinds`, those of the GradeFailures that it raises; `open_services(question)`, where
    programs of its workspace are answered outside; and, where work holds formulas, a field `recalculate` and
    `settled(questions, recalculate)`: the same questions with their right answers computed (see parts/domains/spreadsheet.py).
    """

    kind: str
    name: str
    packages: tuple[str, ...]  # Python distributions that its workspace can import, with what they need
    own_process_per_answer: bool  # as in Family

    def describe(self) -> str:
        """One or two sentences on what is asked in this domain. Holds no question."""
        ...

    def versions(self) -> Mapping[str, str]:
        """Libraries whose version decides questions or grades; part of what is hashed."""
        ...

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        """As in Family. A question's text is the instruction that the student reads."""
        ...

    def files(self, question: Question) -> Mapping[str, bytes]:
        """path in the workspace -> content, laid there before the first turn. Nothing of it gives the answer away."""
        ...

    def collected(self, question: Question) -> tuple[str, ...]:
        """Paths (fnmatch patterns) that are read back for grading when the rollout has ended, 64 MB of them at most."""
        ...

    def grade_names(self) -> tuple[str, ...]:
        """As in Family."""
        ...

    def grade_work(self, work: Work, question: Question) -> Mapping[str, float]:
        """Each in [0, 1]. Pure. Runs in the grader jail, never in the driver: what a student leaves is hostile."""
        ...


class CallFormat(Protocol):
    """How a student writes a tool call. Texts alone: what a model said is what is parsed, stored and trained."""

    def told(self, tools: Sequence[StudentTool]) -> str:
        """How to call, for the system message; "" where the model's own chat template tells it."""
        ...

    def template_tools(self, tools: Sequence[StudentTool]) -> Json:
        """What the chat template is given as `tools`; None where it is given nothing."""
        ...

    def parse(self, text: str, tools: Sequence[StudentTool]) -> Action:
        """What the message asks for. Raises CallFailure."""
        ...

    def write(self, action: Action) -> str:
        """The message that asks for it: parse(write(action), tools) == action. Raises CallFailure for what it cannot hold."""
        ...

    def observation(self, text: str) -> Message:
        """What the student is told of its call."""
        ...


class Filter(Protocol):
    """Which trajectories are kept for training."""

    def reason_to_drop(self, acted: Acted, private: Sequence[str]) -> str | None:
        """One word, or None to keep it. private: names and texts that a student must never have seen."""
        ...


class Detector(Protocol):
    """A pattern of behaviour, as a predicate over what was lived through (Harness-Zero, table 4)."""

    def shown(self, acted: Acted) -> bool:
        """Whether it is there. acted: with the events of its rollout. Pure, and quick whatever was written in it."""
        ...


class EditFormat(Protocol):
    """How a proposer writes a change. `version` is hashed."""

    def parse(self, response: str, finish_reason: str) -> Any:
        """The edit in `response`. Raises EditFailure("parse", …)."""
        ...

    def apply(self, parent: Harness, edit: Any) -> Harness:
        """The edited harness. Raises EditFailure("apply", …); all or nothing."""
        ...


class RewardTerm(Protocol):
    weight: float

    def value(self, candidate: Candidate) -> float:
        """Unweighted, in [0, 1]."""
        ...


class SelectionRule(Protocol):
    def select(self, parent: Scored, candidates: Sequence[Scored]) -> Scored:
        """The next round's harness. Ties go to the parent where the rule may keep it, else to the earliest."""
        ...


class RaceRule(Protocol):
    """Which candidates go on while they are scored on more and more questions: a race. Its rule sees scores alone, and on
    equal scores gives equal answers, so that a race that was stopped goes on as it would have.
    """

    def looks(self, questions: int) -> Sequence[int]:
        """After how many questions it looks, ascending, each less than `questions`."""
        ...

    def survivors(self, race: Standing) -> Collection[int]:
        """The candidates of race.scores that go on; the others are dropped for good."""
        ...

    def most_rollouts(self, candidates: int, questions: int) -> int:
        """The most that a race of so many candidates may take, with one rollout a question."""
        ...
