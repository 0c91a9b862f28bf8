"""An edit applied to a parent, with the outcome of running it."""

import math
from dataclasses import dataclass
from typing import Self

from hbench.core.failure import Failure
from hbench.core.harness import Harness
from hbench.core.rollout import Rollout


@dataclass(frozen=True, slots=True)
class Candidate:
    """harness is None when the edit did not parse or apply. A no-change candidate has `failure.kind == "no_change"`."""

    parent: Harness
    response: str
    harness: Harness | None
    failure: Failure | None = None
    explanation: str = ""
    rollouts: tuple[Rollout, ...] = ()
    grade: str = "score"  # which grade counts as the score

    @property
    def parsed(self) -> bool:
        return self.failure is None or self.failure.boundary != "parse"

    @property
    def applied(self) -> bool:
        return self.harness is not None

    @property
    def completion_rate(self) -> float:
        """Share in [0, 1] of the questions on which run() returned within its limits; 0.0 when nothing ran."""
        return _mean([float(r.completed) for r in self.rollouts])

    @property
    def task_score(self) -> float:
        """Mean score in [0, 1]; 0.0 when nothing ran."""
        return _mean([r.grade(self.grade) for r in self.rollouts])

    def with_rollouts(self, rollouts: tuple[Rollout, ...]) -> Self:
        return type(self)(self.parent, self.response, self.harness, self.failure, self.explanation, rollouts, self.grade)


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0  # exact: the order in which rollouts ended does not show
