"""Go on with the best of parent and candidates."""

from collections.abc import Sequence
from typing import Literal

from hbench.core.scored import Scored
from hbench.parts.part import Part
from hbench.parts.selections._ranking import best_above


class BestOrParent(Part):
    """The argmax with the parent among the runners. On one set of scores it chooses as strict_improvement does (a tie
    keeps the parent); it is the control for best_candidate where questions are redrawn each round.
    """

    kind: Literal["best_or_parent"] = "best_or_parent"

    def select(self, parent: Scored, candidates: Sequence[Scored]) -> Scored:
        """The parent or one candidate."""
        return best_above(parent, candidates)
