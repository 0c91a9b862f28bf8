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

    Units count that all runs have. One run a side: mean_spread of the differences. With more, runs are a second level:
    what their means vary by beyond what units explain, by the same measure on both sides (a run of one side alone says
    nothing of how another would have turned out). Nothing can be said below LEAST units.
    """
    shared = sorted(set.intersection(*(set(run) for run in (*ours, *theirs)))) if ours else []
    alone = mean_spread([_over(ours, unit) - _over(theirs, unit) for unit in shared])
    several = [side for side in (ours, theirs) if len(side) > 1]
    if not several:
        return alone
    if len(shared) < LEAST:
        return Spread(alone.value, alone.n)
    variance, freedom = _of_runs(several, shared)
    return Spread(alone.value, alone.n, (*alone.parts, *([(variance, freedom)] if variance > 1e-24 else [])))


def _over(runs: Sequence[Run], unit: str) -> float:
    return mean([run[unit] for run in runs]) or 0.0


def _of_runs(sides: Sequence[Sequence[Run]], units: Sequence[str]) -> tuple[float, int]:
    """What drawing the runs anew adds to the variance of the mean, and its degrees of freedom.

    The variance component of runs in a two-way layout without replication. That runs differ by unit as well (the
    interaction) is part of how the units' means vary, and is taken off here; a component is never below 0.
    """
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
    component = apart / freedom - mixed / (freedom * (len(units) - 1)) / len(units)
    return max(0.0, component) * math.fsum(1 / len(side) for side in sides), freedom
