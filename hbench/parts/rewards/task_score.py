"""The candidate's mean score on the scoring questions."""

from typing import Literal

from pydantic import Field

from hbench.core.candidate import Candidate
from hbench.parts.part import Part


class TaskScore(Part):
    """J(h'; Q) in [0, 1]; 0 when the edit failed, never the parent's score."""

    kind: Literal["task_score"] = "task_score"
    weight: float = Field(1.0, description="1.0 or 0.7 in the paper, which is unclear; terms are stored apart")

    def value(self, candidate: Candidate) -> float:
        """In [0, 1]."""
        return candidate.task_score if candidate.applied else 0.0
