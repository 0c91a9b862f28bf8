"""Adopt the best candidate only when it is strictly above the current harness."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from hbench.core.scored import Scored
from hbench.parts.part import Part
from hbench.parts.selections._ranking import best_above


class StrictImprovement(Part):
    """Reasoning Gym's rule in Harness learning. A tie keeps the parent; among candidates the earliest wins."""

    kind: Literal["strict_improvement"] = "strict_improvement"
    rescore: Literal["same", "fresh"] = Field(
        "same",
        description="fresh: the plan scores parent and candidates anew each round, so that a lucky parent is not kept; "
        "same: equal runs are answered from the store. The rule itself only compares what it is handed",
    )

    def select(self, parent: Scored, candidates: Sequence[Scored]) -> Scored:
        """The parent or one candidate. A candidate scored on other questions than the parent is never chosen."""
        return best_above(parent, candidates)
