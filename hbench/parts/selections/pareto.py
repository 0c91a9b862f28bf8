"""Go on with the cheapest harness among those that score about as much as the best."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from hbench.core.scored import Scored
from hbench.core.standing import NOISE
from hbench.parts.part import Part
from hbench.parts.selections._ranking import comparable


class Pareto(Part):
    """Weighs score against solver tokens. What it takes is never worse in both than another: it stands on the frontier.

    With margin 0 a cheaper harness is taken where it scores as much as the best; the parent stays where it is as good and as cheap.
    """

    kind: Literal["pareto"] = "pareto"
    margin: float = Field(0.0, ge=0, le=1, description="how much score may be given up against the best, for fewer tokens")
    prompt_weight: float = Field(1.0, ge=0, description="what a prompt token costs, where a completion token costs 1")

    def select(self, parent: Scored, candidates: Sequence[Scored]) -> Scored:
        """The cheapest within the margin; of equally cheap ones the best, then the parent, then the earliest."""
        running = [*([parent] if parent.score is not None else []), *comparable(parent, candidates)]
        if not running:
            return parent
        enough = max(one.score for one in running) - self.margin - NOISE
        return min((one for one in running if one.score >= enough), key=lambda one: (self.cost(one), -one.score, one.position))

    def cost(self, one: Scored) -> float:
        """In completion tokens, over all its rollouts."""
        return one.tokens + self.prompt_weight * one.prompt_tokens
