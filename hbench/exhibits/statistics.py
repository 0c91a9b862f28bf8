"""Means with intervals. The unit is what an exhibit says: the family, since questions of one are not independent of each
other, or the question where what is measured is how well one domain is done."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SMALL = 30  # below this many families Student's t; from there on the normal quantile, as is usual
LEAST = 6  # families below which a row of several training runs has no interval


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


def runs_interval(
    ours: Sequence[Mapping[str, float]], theirs: Sequence[Mapping[str, float]] = (), confidence: float = 0.95
) -> Estimate:
    """The mean over training runs and families, less that of `theirs` where there are some, with its interval.

    One mapping a run: family -> score; families count that all runs have. One run a side: mean_interval. With more, runs
    are a second level: the interval is Student's t of the families times the spread that the mean has when families and
    each side's runs are drawn anew, with replacement, one fewer of each than there are (all of them would make it too
    small: Rao and Wu, 1988). That spread is not drawn but written down. None below LEAST families.
    """
    shared = sorted(set.intersection(*(set(run) for run in (*ours, *theirs)))) if ours else []
    means = [_over(ours, family) - _over(theirs, family) for family in shared]
    alone = mean_interval(means, confidence)
    if max(len(ours), len(theirs)) < 2 or len(shared) < LEAST:
        return alone if max(len(ours), len(theirs)) < 2 else Estimate(alone.value, alone.n)
    variance = _variance(means) / (len(means) - 1) + sum(_of_runs(side, shared) for side in (ours, theirs))
    if variance < 1e-24:
        return Estimate(alone.value, alone.n)
    half = _quantile(len(means), confidence) * math.sqrt(variance)
    return Estimate(alone.value, alone.n, alone.value - half, alone.value + half)


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
    half = _quantile(n, confidence) * math.sqrt(math.fsum(z * z for z in left) * n / (n - 1)) / abs(below)
    return Estimate(value, n, value - half, value + half)


def strata_interval(strata: Mapping[str, Mapping[str, float]], confidence: float = 0.95) -> Estimate:
    """The mean over strata, each weighing the same, of each one's mean over its units: stratum -> unit -> value.

    A unit that stands in several strata counts once in n, and moves all of them in the interval. Student's t is that of
    the smallest stratum. No interval where one of them has a single unit.
    """
    means = {name: mean(list(its.values())) for name, its in strata.items()}
    units = sorted(set().union(*strata.values()))
    value = mean(list(means.values()))
    smallest = min((len(its) for its in strata.values()), default=0)
    if smallest < 2:
        return Estimate(value, len(units))

    def moves(unit: str) -> float:
        """How far the unit moves the mean."""
        its = ((name, values) for name, values in strata.items() if unit in values)
        return math.fsum(
            (values[unit] - means[name]) / math.sqrt(len(values) * (len(values) - 1)) / len(strata) for name, values in its
        )

    variance = math.fsum(moves(unit) ** 2 for unit in units)
    if variance < 1e-24:
        return Estimate(value, len(units))
    half = _quantile(smallest, confidence) * math.sqrt(variance)
    return Estimate(value, len(units), value - half, value + half)


def _over(runs: Sequence[Mapping[str, float]], family: str) -> float:
    return mean([run[family] for run in runs]) or 0.0


def _of_runs(runs: Sequence[Mapping[str, float]], families: Sequence[str]) -> float:
    """What drawing the runs anew adds to the variance of the mean: by how they differ, and by how that differs by family."""
    if len(runs) < 2:
        return 0.0
    totals = [mean([run[family] for family in families]) for run in runs]
    centre = mean(totals)
    left = [
        run[family] - _over(runs, family) - (total - centre)
        for run, total in zip(runs, totals, strict=True)
        for family in families
    ]
    return (_variance(totals) + _variance(left) / (len(families) - 1)) / (len(runs) - 1)


def _variance(values: Sequence[float]) -> float:
    """Of these values as a whole: divided by their number."""
    centre = mean(values)
    return math.fsum((x - centre) ** 2 for x in values) / len(values)


def _quantile(n: int, confidence: float) -> float:
    from scipy import stats

    tail = 0.5 + confidence / 2
    return float(stats.t.ppf(tail, n - 1) if n < SMALL else stats.norm.ppf(tail))
