"""A paired sequential test: a candidate is dropped once it is unlikely to catch up with the one that leads."""

import math
from collections.abc import Collection, Sequence
from statistics import NormalDist
from typing import Literal

from pydantic import Field

from hbench.core.standing import NOISE, Standing
from hbench.parts.part import Part


class Paired(Part):
    """Drops who is unlikely to catch up with the leader, or the parent, on the questions left: compared question by question,
    so that what is hard for all cancels out. On the laptop study's rounds the default picked as full scoring did in 94 to 100 %,
    at 47 to 59 % of its rollouts (tests/bench/racing.py).

    The chance of catching up is that of a sum of as many more differences as there are questions left; they are guessed to
    be like those seen, with one win and one loss added to them. Equal candidates go on side by side.
    """

    kind: Literal["paired"] = "paired"
    risk: float = Field(0.15, ge=0, lt=0.5, description="a candidate is dropped when its chance of catching up is less; 0: when it has none")
    pieces: int = Field(8, ge=1, description="into how many equal pieces the questions are cut; it looks after each, and what is in one runs side by side")

    def looks(self, questions: int) -> Sequence[int]:
        """Evenly spread; the last is the end of the race and decides nothing."""
        every = [math.ceil(questions * i / self.pieces) for i in range(1, self.pieces)]
        return tuple(dict.fromkeys(done for done in every if 0 < done < questions))

    def survivors(self, race: Standing) -> Collection[int]:
        """All but those that have lost or will, as it seems: against the parent, or the candidate that leads."""
        leader = race.ranking()[0]
        rivals = [race.scores[leader], *([race.parent] if race.parent else [])]
        return [one for one in race.scores if not race.lost(one) and not any(self._loses(race, one, to) for to in rivals)]

    def most_rollouts(self, candidates: int, questions: int) -> int:
        """All: it may be that nobody falls behind."""
        return candidates * questions

    def _loses(self, race: Standing, one: int, rival: Sequence[float]) -> bool:
        """rival: its scores; those behind the questions so far are not looked at."""
        ahead = [theirs - own for own, theirs in zip(race.scores[one], rival, strict=False)]
        lead = math.fsum(ahead)
        return lead > NOISE and chance_to_catch_up(ahead, race.left) < self.risk


def chance_to_catch_up(ahead: Sequence[float], left: int) -> float:
    """How likely the sum of `ahead`, which is positive, falls to 0 or below with `left` more such differences.

    Normal, with the spread of a prediction: that of the differences still to come and that of their mean, guessed from
    those seen with one of +1 and one of -1 added.
    """
    seen = len(ahead) + 2
    mean = math.fsum(ahead) / seen
    variance = (math.fsum(one * one for one in ahead) + 2) / seen - mean * mean
    lead, spread = math.fsum(ahead) + left * mean, math.sqrt(variance * left * (1 + left / seen))
    return NormalDist().cdf(-lead / spread) if spread > 0 else 0.0
