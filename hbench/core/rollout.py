"""One execution of one harness on one question, with its record and score."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from hbench.core.digest import Json
from hbench.core.failure import Failure


@dataclass(frozen=True, slots=True)
class Event:
    """One tool call. sent, received: JSON as exchanged; long texts live in the `texts` table under their digest. Of a
    conversation that grows, sent is only what is new: see runtime/acting/conversation.py.

    seconds is volatile. reused: answered by the reply store.
    """

    kind: Literal["lm", "search", "python", "execute"]
    sent: Json
    received: Json
    role: str = ""
    model: str = ""
    request_id: str = ""
    finish_reason: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    reused: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Sums over a rollout's events. seconds: wall time of the rollout (volatile)."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Rollout:
    """grades: each in [0, 1], all 0.0 when it did not complete; `score` is the one the spec names.

    completed: run() returned a str within its limits. failure: also `no_answer` (completed, scores 0).
    """

    harness_id: str
    question_id: str
    repeat: int
    answer: str | None
    grades: Mapping[str, float]
    completed: bool
    failure: Failure | None = None
    events: tuple[Event, ...] = ()
    usage: Usage = field(default_factory=Usage)
    output: str = ""  # what it printed, cut at the limit

    def without_events(self) -> Self:
        """The same without what was said: what is kept where that is a row already."""
        return replace(self, events=(), output="")

    def grade(self, name: str) -> float:
        return self.grades.get(name, 0.0)
