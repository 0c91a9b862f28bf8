"""Means with intervals. The unit is what an exhibit says: the family, since questions of one are not independent of each
other, or the question where what is measured is how well one domain is done."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LEAST = 6  # units below which nothing is drawn anew: their signs are flipped instead, see significance.py


@dataclass(frozen=True, slots=True)
class Estimate:
    """value: a mean, or None when nothing was measured. n: how many units it is the mean of.

    low, high: the confidence interval, or None where there is none to give: a single unit, or units that are all
    equal (their spread is 0, so an interval without width would claim a certainty that nobody has).
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean, and how far it would move if what it is the mean of were drawn anew.

    parts: (variance of the mean, degrees of freedom): in all, and of training runs alone where there are several. The
    widest counts: few runs by themselves may leave more open than all there is taken together. () where nothing can be said.
    """

    value: float | None
    n: int
    parts: tuple[tuple[float, int], ...] = ()

    def interval(self, confidence: float = 0.95) -> Estimate:
        """Two-sided, of Student's t. Not clipped to [0, 1]."""
        from scipy.special import stdtrit

        if not self.parts:
            return Estimate(self.value, self.n)
        tail = 0.5 + confidence / 2
        half = max(float(stdtrit(freedom, tail)) * math.sqrt(variance) for variance, freedom in self.parts)
        return Estimate(self.value, self.n, self.value - half, self.value + half)

    def p_value(self) -> float | None:
        """Two-sided, that the mean is 0: one less the confidence of the interval that ends there. None without a spread."""
        from scipy.special import stdtr

        found = (2 * float(stdtr(freedom, -abs(self.value) / math.sqrt(variance))) for variance, freedom in self.parts)
        return max(found, default=None)


def mean(values: Sequence[float]) -> float | None:
    """None of nothing. Exact sums, so that the order of rows changes no digit."""
    return math.fsum(values) / len(values) if values else None


def mean_spread(values: Sequence[float]) -> Spread:
    """The mean of `values`, one a unit."""
    n, centre = len(values), mean(values)
    if n < 2 or max(values) - min(values) < 1e-12:  # equal but for rounding
        return Spread(centre, n)
    variance = math.fsum((x - centre) ** 2 for x in values) / (n - 1)
    return Spread(centre, n, ((variance / n, n - 1),))


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The mean of `values`, one a unit, with its two-sided interval."""
    return mean_spread(values).interval(confidence)


def ratio_interval(pairs: Sequence[tuple[float, float]], confidence: float = 0.95) -> Estimate:
    """The sum of the first over the sum of the second, one pair a unit, with its interval (linearised).

    None where there is nothing to divide by.
    """
    n, below = len(pairs), math.fsum(second for _, second in pairs)
    if not below:
        return Estimate(None, n)
    value = math.fsum(first for first, _ in pairs) / below
    left = [first - value * second for first, second in pairs]
    if n < 2 or max(map(abs, left)) < 1e-12 * abs(below):
        return Estimate(value, n)
    variance = math.fsum(z * z for z in left) * n / (n - 1) / below**2
    return Spread(value, n, ((variance, n - 1),)).interval(confidence)


def strata_interval(strata: Mapping[str, Mapping[str, float]], confidence: float = 0.95) -> Estimate:
    """The mean over strata with its interval; see strata_spread."""
    return strata_spread(strata).interval(confidence)


def strata_spread(strata: Mapping[str, Mapping[str, float]]) -> Spread:
    """The mean over strata, each weighing the same, of each one's mean over its units: stratum -> unit -> value.

    A unit that stands in several strata counts once in n, and moves all of them in the interval. Student's t is that of
    the smallest stratum. No interval where one of them has a single unit.
    """
    means = {name: mean(list(its.values())) for name, its in strata.items()}
    units = sorted(set().union(*strata.values()))
    value = mean(list(means.values()))
    smallest = min((len(its) for its in strata.values()), default=0)
    if smallest < 2:
        return Spread(value, len(units))

    def moves(unit: str) -> float:
        """How far the unit moves the mean."""
        its = ((name, values) for name, values in strata.items() if unit in values)
        return math.fsum(
            (values[unit] - means[name]) / math.sqrt(len(values) * (len(values) - 1)) / len(strata) for name, values in its
        )

    variance = math.fsum(moves(unit) ** 2 for unit in units)
    return Spread(value, len(units), ((variance, smallest - 1),) if variance > 1e-24 else ())
