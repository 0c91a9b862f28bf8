"""Means with intervals. The unit is the family: questions of one family are not independent of each other."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SMALL = 30  # below this many families Student's t; from there on the normal quantile, as is usual


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


def mean(values: Sequence[float]) -> float | None:
    """None of nothing. Exact sums, so that the order of rows changes no digit."""
    return math.fsum(values) / len(values) if values else None


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The mean of `values`, one a family, with its two-sided interval. Not clipped to [0, 1]."""
    n, centre = len(values), mean(values)
    if n < 2 or max(values) - min(values) < 1e-12:  # equal but for rounding
        return Estimate(centre, n)
    variance = math.fsum((x - centre) ** 2 for x in values) / (n - 1)
    half = _quantile(n, confidence) * math.sqrt(variance / n)
    return Estimate(centre, n, centre - half, centre + half)


def paired_difference(ours: Mapping[str, float], theirs: Mapping[str, float], confidence: float = 0.95) -> Estimate:
    """The mean of ours minus theirs over the families that both have, with its interval. Families -> score."""
    shared = [family for family in ours if family in theirs]
    return mean_interval([ours[family] - theirs[family] for family in shared], confidence)


def _quantile(n: int, confidence: float) -> float:
    from scipy import stats

    tail = 0.5 + confidence / 2
    return float(stats.t.ppf(tail, n - 1) if n < SMALL else stats.norm.ppf(tail))
