"""Go on with the best candidate, even below the current harness."""

from collections.abc import Sequence
from typing import Literal

from hbench.core.scored import Scored
from hbench.parts.part import Part
from hbench.parts.selections._ranking import best


class BestCandidate(Part):
    """Multi-hop QA's rule in Harness learning: questions are redrawn, so going down may only look so."""

    kind: Literal["best_candidate"] = "best_candidate"

    def select(self, parent: Scored, candidates: Sequence[Scored]) -> Scored:
        """The best candidate that ran on the parent's questions, the earliest of equals; the parent when none did."""
        return best(parent, candidates) or parent
