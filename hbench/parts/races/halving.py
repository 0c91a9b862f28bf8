"""Successive halving: after each look the better half goes on, and the questions double."""

import math
from collections.abc import Collection, Sequence
from typing import Literal

from pydantic import Field

from hbench.core.standing import Standing
from hbench.parts.part import Part


class Halving(Part):
    """Keeps the better half at each look, while the questions double: what it costs at most is known before it begins.

    8 candidates on 16 questions take 64 of 128 rollouts. Equal candidates go on in the order of proposal; one that cannot be
    chosen any more is dropped whatever its place.
    """

    kind: Literal["halving"] = "halving"
    first: float = Field(0.25, gt=0, lt=1, description="share of the questions before the first look; it doubles from look to look")
    keep: float = Field(0.5, gt=0, lt=1, description="share of the candidates that goes on after each look, rounded up")

    def looks(self, questions: int) -> Sequence[int]:
        """After `first` of them, twice as many, and so on."""
        found, share = [], self.first
        while (done := math.ceil(share * questions)) < questions:
            found, share = [*found, done], 2 * share
        return tuple(dict.fromkeys(found))

    def survivors(self, race: Standing) -> Collection[int]:
        """The best, as many as `keep` says of those still there."""
        best = race.ranking()[: self._kept(len(race.scores))]
        return [one for one in best if not race.lost(one)]

    def most_rollouts(self, candidates: int, questions: int) -> int:
        """Exact where nobody is dropped for having lost."""
        total, before = 0, 0
        for done in (*self.looks(questions), questions):
            total, before = total + candidates * (done - before), done
            candidates = self._kept(candidates)
        return total

    def _kept(self, candidates: int) -> int:
        return math.ceil(self.keep * candidates)
