"""What stands in a cell: a column's statistic over the units of a row, with its interval."""

from collections.abc import Mapping, Sequence
from typing import Any

from hbench.exhibits.block import COUNTED, ColumnBlock, ExhibitBlock
from hbench.exhibits.statistics import Estimate, mean, ratio_interval, strata_interval
from hbench.exhibits.training_runs import runs_interval

Unit = Mapping[str, Any]  # one row of the exhibit's SQL
ASKED = ("question", "scenario")  # units that are asked: the same ones whatever was trained


def estimate(block: ExhibitBlock, name: str, units: Sequence[Unit], base: Sequence[Unit]) -> Estimate:
    """The cell of `units` in this column. base: the baseline's units, for a difference."""
    column, by = block.columns[name], block.unit
    of = column.of or name
    if column.over:
        return _weighed(block, column.model_copy(update={"of": of}), units, base)
    if column.per:
        found = ratio_interval(list(_unit_sums(units, of, column.per, by).values()), block.confidence)
        return _of_runs(found, units)
    if column.statistic == "ratio":
        ours, theirs = _paired(of, by, units, base)
        pairs = [(mean([run[u] for run in ours]), mean([run[u] for run in theirs])) for u in (ours[0] if ours else ())]
        return _of_runs(ratio_interval(pairs, block.confidence), units, base)
    if column.statistic == "difference":
        return runs_interval(*_sides(of, by, units, base), block.confidence)
    if column.statistic == "mean":
        runs = [means for its in _by_run(units, of, by) if (means := _unit_means(its, of, by))]
        return runs_interval(runs, confidence=block.confidence)
    values = _unit_means(units, of, by)
    if column.statistic in COUNTED:
        arms = [its for its in _by_arm(units) if _unit_means(its, of, by)]
        counted = arms if column.statistic == "arms" else values
        return Estimate(float(len(counted)), len(values)) if units else Estimate(None, 0)
    if column.statistic == "best":
        return Estimate(max(values.values(), default=None), len(values))
    # Chains and repeats of one family ask the same questions: those count once.
    asked = {(unit.get("family"), unit.get("question_set") or i): unit[of] for i, unit in enumerate(units)}
    known = [value for value in asked.values() if value is not None]
    return Estimate(float(sum(known)) if known else None, len(values))


def _weighed(block: ExhibitBlock, column: ColumnBlock, units: Sequence[Unit], base: Sequence[Unit]) -> Estimate:
    """Over the values of column.over, which weigh the same."""
    strata: dict[str, dict[Any, float]] = {}
    for group in dict.fromkeys(unit[column.over] for unit in units):
        mine, others = ([unit for unit in rows if unit[column.over] == group] for rows in (units, base))
        if column.statistic == "difference":
            ours, theirs = _paired(column.of, block.unit, mine, others)
            values = {u: mean([run[u] for run in ours]) - mean([run[u] for run in theirs]) for u in (ours[0] if ours else ())}
        else:
            values = _unit_means(mine, column.of, block.unit)
        strata |= {group: values} if values else {}
    if column.statistic == "groups":
        return Estimate(float(len(strata)), len(strata)) if units else Estimate(None, 0)
    return _of_runs(strata_interval(strata, block.confidence), units, base)


def _of_runs(found: Estimate, *sides: Sequence[Unit]) -> Estimate:
    """The same; without its interval where a side pools several training runs, which it leaves out."""
    return found if all(len(_by_arm(units)) < 2 for units in sides) else Estimate(found.value, found.n)


def _unit_sums(units: Sequence[Unit], of: str, per: str, by: str) -> dict[Any, tuple[float, float]]:
    """Family (or question) -> sums of both columns, over rows that have both."""
    sums: dict[Any, tuple[float, float]] = {}
    for unit in units:
        if unit[of] is not None and unit[per] is not None:
            before = sums.get(unit[by], (0.0, 0.0))
            sums[unit[by]] = (before[0] + unit[of], before[1] + unit[per])
    return dict(sorted(sums.items()))


def _by_arm(units: Sequence[Unit]) -> list[list[Unit]]:
    """The units of each arm apart: a row that pools arms has several, each a training run of its own."""
    grouped: dict[Any, list[Unit]] = {}
    for unit in units:
        grouped.setdefault(unit["arm"], []).append(unit)
    return list(grouped.values())


def _seeds(units: Sequence[Unit], of: str, by: str) -> list[Any]:
    """The seeds that are training runs of their own; [] where they are none, or a single one.

    They are where a spec measures several families, or questions, by what it trained once; in adaptation each family
    begins anew. Seeds that measured other units are no repeats of each other: they count within their units.
    """
    known = [unit for unit in units if unit[of] is not None]
    measured: dict[Any, set[Any]] = {}
    families: dict[Any, set[Any]] = {}
    for unit in known:
        measured.setdefault(unit.get("seed"), set()).add(unit[by])
        families.setdefault(unit.get("spec_digest"), set()).add(unit.get("family"))
    trained = by in ASKED or any(len(its) > 1 for its in families.values())
    alike = len(set(map(frozenset, measured.values()))) == 1
    return sorted(measured) if trained and alike and len(measured) > 1 else []


def _by_run(units: Sequence[Unit], of: str, by: str) -> list[list[Unit]]:
    """The units of each training run apart: an arm's, or of one seed of it."""
    seeds = _seeds(units, of, by)
    groups = [[unit for unit in units if unit["seed"] == seed] for seed in seeds] or [list(units)]
    return [its for group in groups for its in _by_arm(group)]


def _unit_means(units: Sequence[Unit], of: str, by: str) -> dict[Any, float]:
    """Family (or chain) -> mean over its seeds and whatever else it has, of those that have a value."""
    grouped: dict[Any, list[float]] = {}
    for unit in units:
        if unit[of] is not None:
            grouped.setdefault(unit[by], []).append(unit[of])
    return {each: mean(values) for each, values in sorted(grouped.items())}


def _sides(of: str, by: str, units: Sequence[Unit], base: Sequence[Unit]) -> tuple[list[dict], list[dict]]:
    """The training runs of both, over what they share. Seeds that both have are paired: then one side of differences."""
    seeds = _seeds([*units, *base], of, by)
    if not seeds:
        return _paired(of, by, units, base)
    apart = []
    for seed in seeds:
        ours, theirs = _paired(of, by, *([unit for unit in rows if unit["seed"] == seed] for rows in (units, base)))
        if ours:
            apart.append({u: mean([run[u] for run in ours]) - mean([run[u] for run in theirs]) for u in ours[0]})
    return apart, []


def _paired(of: str, by: str, units: Sequence[Unit], base: Sequence[Unit]) -> tuple[list[dict], list[dict]]:
    """Unit means of each arm of both, over what they all share: same spec, family, seed, and the same question or questions."""

    def keyed(rows: Sequence[Unit]) -> dict[tuple, Unit]:
        named = ("spec_digest", "family", "seed", "question_set", *([by] if by in ASKED else []))
        return {tuple(row.get(name) for name in named): row for row in rows if row[of] is not None}

    ours, theirs = ([arm for its in _by_arm(rows) if (arm := keyed(its))] for rows in (units, base))
    if not ours or not theirs:
        return [], []
    shared = [key for key in ours[0] if all(key in arm for arm in (*ours, *theirs))]

    def means(arms: Sequence[dict[tuple, Unit]]) -> list[dict]:
        return [_unit_means([arm[key] for key in shared], of, by) for arm in arms]

    return means(ours), means(theirs)
