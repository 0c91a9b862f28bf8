"""Means over several training runs of one recipe: units and runs are two levels, and both are drawn anew."""

import math
from collections.abc import Mapping, Sequence

from hbench.exhibits.statistics import LEAST, Estimate, Spread, mean, mean_spread

Run = Mapping[str, float]  # unit -> its score in one training run


def runs_interval(ours: Sequence[Run], theirs: Sequence[Run] = (), confidence: float = 0.95) -> Estimate:
    """The mean with its interval; see runs_spread."""
    return runs_spread(ours, theirs).interval(confidence)


def runs_spread(ours: Sequence[Run], theirs: Sequence[Run] = ()) -> Spread:
    """The mean over training runs and units, less that of `theirs` where there are some.

    Units count that all runs have. One run a side: mean_spread of the differences. With more, runs are a second level: the
    variance is that of a two-way layout without replication, with as much spread of runs on either side (a run of one
    side alone says nothing of how another would have turned out). Nothing can be said below LEAST units.

    Simulated with 6 to 26 units, 2 or 3 runs, whatever differs most: rejects 3 to 6 % at 5 %; 1.5 to 5.5 % with two runs of
    one side alone. One t after Satterthwaite rejects up to 13 %, t of the units' degrees of freedom up to 17 %.
    """
    shared = sorted(set.intersection(*(set(run) for run in (*ours, *theirs)))) if ours else []
    alone = mean_spread([_over(ours, unit) - _over(theirs, unit) for unit in shared])
    several = [side for side in (ours, theirs) if len(side) > 1]
    if not several:
        return alone
    if len(shared) < LEAST:
        return Spread(alone.value, alone.n)
    runs, mixed, freedom = _of_runs(several, shared)
    units = sum(variance for variance, _ in alone.parts)
    # How runs differ by unit is in both: in the units' means and in the runs'.
    parts = ((max(0.0, units - mixed) + runs, alone.n - 1), (runs, freedom))
    return Spread(alone.value, alone.n, tuple(part for part in parts if part[0] > 1e-24))


def _over(runs: Sequence[Run], unit: str) -> float:
    return mean([run[unit] for run in runs]) or 0.0


def _of_runs(sides: Sequence[Sequence[Run]], units: Sequence[str]) -> tuple[float, float, int]:
    """Variances of the mean: of the runs' means, and of how runs differ by unit (the interaction); degrees of freedom."""
    freedom = sum(len(side) - 1 for side in sides)
    apart, mixed = 0.0, 0.0
    for side in sides:
        totals = [mean([run[unit] for unit in units]) for run in side]
        centre = mean(totals)
        apart += math.fsum((total - centre) ** 2 for total in totals)
        mixed += math.fsum(
            (run[unit] - _over(side, unit) - (total - centre)) ** 2
            for run, total in zip(side, totals, strict=True)
            for unit in units
        )
    each = math.fsum(1 / len(side) for side in sides) / freedom
    return apart * each, mixed * each / (len(units) - 1) / len(units), freedom
