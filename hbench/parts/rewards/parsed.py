"""Whether the response could be read as an edit."""

from typing import Literal

from pydantic import Field

from hbench.core.candidate import Candidate
from hbench.parts.part import Part


class Parsed(Part):
    """1 when the response parses, also when the edit then does not apply or changes nothing."""

    kind: Literal["parsed"] = "parsed"
    weight: float = Field(0.05, description="0.05 in the paper (Reasoning Gym)")

    def value(self, candidate: Candidate) -> float:
        """0 or 1."""
        return float(candidate.parsed)
