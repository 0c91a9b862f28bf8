"""One multi-turn rollout as the student saw it, turn by turn (Harness-Zero, section 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hbench.core.digest import Json
from hbench.core.failure import Failure, HbenchError
from hbench.core.message import Message
from hbench.core.rollout import Rollout

Span = tuple[int, int]  # start and end of characters


@dataclass(frozen=True, slots=True)
class Turn:
    """One proposal of the student, its review, what was done and seen.

    proposal: the student's words; where they were replaced they stay here and nowhere else. verdict: `pass` also where
    nobody reviewed. accepted: what was executed; the proposal itself, byte for byte, when passed. hidden: spans of
    `accepted` that carry no loss. observation: what came back; None behind the final answer. tool: what was called; None
    for the answer. failure: a call that could not be read, a command that ran out … (the rollout goes on). reason,
    components, tries, checks, trouble: the reviewer's, private, never in a training row; under h* the components are those
    of the bank that had their first part in this turn. trouble: why the reviewer had no say (budget, malformed, unreviewed
    …); "" where it had.
    """

    proposal: str
    verdict: Literal["pass", "replace"]
    accepted: str
    observation: Message | None = None
    tool: str | None = None
    failure: Failure | None = None
    hidden: tuple[Span, ...] = ()
    reason: str = ""
    components: tuple[str, ...] = ()
    tries: int = 0
    checks: tuple[str, ...] = ()
    trouble: str = ""


class BrokenTrajectory(HbenchError):
    """A trajectory that is not what the student could have lived through. It is never trained on."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """head: the messages before the first turn. The student's history at turn t is `seen(t)`."""

    question_id: str
    repeat: int
    head: tuple[Message, ...]
    turns: tuple[Turn, ...] = ()

    def seen(self, turn: int) -> tuple[Message, ...]:
        """What the student read before it said turn `turn`, from 0: head, accepted responses, observations."""
        messages = list(self.head)
        for each in self.turns[:turn]:
            messages.append(Message("assistant", each.accepted))
            messages += [each.observation] if each.observation else []
        return tuple(messages)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The whole conversation."""
        return self.seen(len(self.turns))

    @property
    def replaced(self) -> int:
        """How many turns were replaced."""
        return sum(turn.verdict == "replace" for turn in self.turns)

    def check(self) -> None:
        """Raises BrokenTrajectory: a passed turn that was changed, a turn without an observation before the last, a
        hidden span outside its text."""
        for place, turn in enumerate(self.turns):
            told = f"turn {place} of question {self.question_id}"
            if turn.verdict == "pass" and turn.accepted != turn.proposal:
                raise BrokenTrajectory(f"{told} was passed, and is not what the student said")
            if turn.observation is None and place < len(self.turns) - 1:
                raise BrokenTrajectory(f"{told} has no observation, and the rollout went on")
            if any(not 0 <= start < end <= len(turn.accepted) for start, end in turn.hidden):
                raise BrokenTrajectory(f"{told} hides what is not there")


@dataclass(frozen=True, slots=True)
class Work:
    """What a rollout leaves for the grader. answer: the final answer, None without one. files: path -> content."""

    answer: str | None
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Acted:
    """One finished multi-turn rollout: its record and score, and its turns."""

    rollout: Rollout
    trajectory: Trajectory


@dataclass(frozen=True, slots=True)
class Ran:
    """What one command printed. code: its exit code; None where it ran out of time. output: both streams, as they came."""

    output: str
    code: int | None


def conversation_json(messages: Sequence[Message]) -> Json:
    """As a chat template takes them."""
    return [message.to_json() for message in messages]
