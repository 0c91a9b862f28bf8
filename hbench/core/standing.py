"""How a race stands: what its rule sees."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NOISE = 1e-9  # sums of scores that differ by less are equal


@dataclass(frozen=True, slots=True)
class Standing:
    """scores: candidate, by its place in the order of proposal -> its score on each question so far, each in [0, 1]; as many
    for every candidate, in the order of the questions. questions: how many there are in all.

    parent: the parent's score on all of them, where candidates must be above it to be chosen; () where they need not.
    """

    scores: Mapping[int, Sequence[float]]
    questions: int
    parent: Sequence[float] = ()

    @property
    def done(self) -> int:
        """How many questions every candidate was scored on."""
        return len(next(iter(self.scores.values()), ()))

    @property
    def left(self) -> int:
        return self.questions - self.done

    def ranking(self) -> list[int]:
        """The candidates, best so far first; equal ones in the order of proposal."""
        return sorted(self.scores, key=lambda one: (-math.fsum(self.scores[one]), one))

    def lost(self, one: int) -> bool:
        """Whether the candidate cannot be chosen any more, whatever it scores on the questions left.

        It ends at most with the score of another that cannot fall below, and which then comes first: the parent, or a
        candidate proposed before it.
        """
        most = math.fsum(self.scores[one]) + self.left
        if self.parent and most <= math.fsum(self.parent) + NOISE:
            return True
        sure = {other: math.fsum(scores) for other, scores in self.scores.items() if other != one}
        return any(most < least - NOISE or (other < one and most <= least + NOISE) for other, least in sure.items())
