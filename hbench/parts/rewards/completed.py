"""The share of questions on which the harness ran to its end."""

from typing import Literal

from pydantic import Field

from hbench.core.candidate import Candidate
from hbench.parts.part import Part


class Completed(Part):
    """Share of questions on which run() returned text within its limits; 0 when nothing ran."""

    kind: Literal["completed"] = "completed"
    weight: float = Field(0.15, description="0.15 in the paper: all run and all wrong earns 0.30 in all")

    def value(self, candidate: Candidate) -> float:
        """In [0, 1]."""
        return candidate.completion_rate if candidate.applied else 0.0
