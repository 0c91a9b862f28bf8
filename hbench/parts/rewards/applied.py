"""Whether the edit applied and left a valid program."""

from typing import Literal

from pydantic import Field

from hbench.core.candidate import Candidate
from hbench.parts.part import Part


class Applied(Part):
    """1 when there is a new harness; 0 for a failed edit and for one that changes nothing."""

    kind: Literal["applied"] = "applied"
    weight: float = Field(0.10, description="0.10 in the paper (Reasoning Gym)")

    def value(self, candidate: Candidate) -> float:
        """0 or 1."""
        return float(candidate.applied)
