"""The difference of two sides with its interval and its p: as a whole, and in each family."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hbench.exhibits.pairing import Paired
from hbench.exhibits.significance import holm, p_value
from hbench.exhibits.statistics import Estimate, Spread, mean
from hbench.exhibits.training_runs import runs_spread

ASKED = ("scenario", "question")  # units that both sides were asked one by one
UNITS = ("family", "chain", "seed", "scenario", "question")


@dataclass(frozen=True)
class Difference:
    """One line of a comparison. ours, theirs: means over the clusters. difference: ours less theirs; its n counts clusters.

    name: of the family; "all" for the whole. unit: what a cluster is. p: two-sided, None where nothing can be said.
    holm: the same corrected for the number of families; None for the whole.
    """

    name: str
    unit: str
    ours: float
    theirs: float
    difference: Estimate
    p: float | None
    holm: float | None = None


@dataclass(frozen=True)
class _Apart:
    """Means of both sides, and the differences that the clusters add to that of the whole. tested: whether they tell of
    chance: not where proposals of one side and training runs of the other have a part in it."""

    ours: float
    theirs: float
    clusters: Sequence[float]
    spread: Spread
    tested: bool = True

    def line(self, name: str, unit: str) -> Difference:
        p = p_value(self.clusters, self.spread) if self.tested else None
        return Difference(name, unit, self.ours, self.theirs, self.spread.interval(), p)


def measure(name: str, paired: Paired, unit: str) -> Difference:
    """One line: means over clusters, their difference with its interval, and p."""
    by_family = unit in ASKED and len(paired.families) > 1
    return (_families_alike if by_family else _apart)(paired, unit).line(name, unit)


def _apart(paired: Paired, unit: str) -> _Apart:
    drawn = paired.drawn() if unit in ASKED else paired
    ours, theirs = (drawn or paired).by(unit)
    if paired.seeds and unit != "seed":  # seeds are paired too: each gives a run of differences
        spread = runs_spread([{c: run[c] - other[c] for c in run} for run, other in zip(ours, theirs, strict=True)])
    else:
        spread = runs_spread(ours, theirs)
    clusters = sorted(set.intersection(*map(set, (*ours, *theirs))))
    means = [[mean([run[c] for run in side]) for c in clusters] for side in (ours, theirs)]
    apart = [a - b for a, b in zip(*means, strict=True)]
    return _Apart(mean(means[0]), mean(means[1]), apart, spread if drawn else Spread(spread.value, spread.n), drawn is not None)


def _families_alike(paired: Paired, unit: str) -> _Apart:
    """Questions of several families, each of which weighs the same. Nothing is said of the spread where one has a single one."""
    each = [_apart(its, unit) for its in paired.by_family().values()]
    k, tested = len(each), all(its.tested for its in each)
    spread = _together([its.spread for its in each]) if tested else ()
    value, n = mean([its.spread.value for its in each]), sum(its.spread.n for its in each)
    clusters = [apart / len(its.clusters) / k for its in each for apart in its.clusters]
    sides = (mean([its.ours for its in each]), mean([its.theirs for its in each]))
    return _Apart(*sides, clusters, Spread(value, n, spread), tested)


def _together(each: Sequence[Spread]) -> tuple[tuple[float, int], ...]:
    """Parts of the mean of several means: variances add up, Student's t is that of the smallest. () where one is of a single."""
    if any(its.n < 2 for its in each):
        return ()
    parts = [[its.parts[i] for its in each if len(its.parts) > i] for i in (0, 1)]
    return tuple((sum(v for v, _ in its) / len(each) ** 2, min(freedom for _, freedom in its)) for its in parts if its)


def corrected(lines: Sequence[Difference]) -> list[Difference]:
    """The same with Holm's correction for their number."""
    return [replace(line, holm=p) for line, p in zip(lines, holm([line.p for line in lines]), strict=True)]
