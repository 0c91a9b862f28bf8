"""From SQL rows, one a spec, arm, family and seed, to cells with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hbench.exhibits.block import COUNTED, ColumnBlock, ExhibitBlock, PaperValue
from hbench.exhibits.sources import Source
from hbench.exhibits.statistics import Estimate, mean, ratio_interval, runs_interval, strata_interval

Unit = Mapping[str, Any]  # one row of the exhibit's SQL
MISSING = "–"


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of the table `exhibit_cells`. value None: not measured. within None: nothing to compare."""

    row: str
    column: str
    value: float | None
    n: int
    low: float | None
    high: float | None
    paper_value: float | None = None
    tolerance: float | None = None
    within: bool | None = None


@dataclass(frozen=True)
class Line:
    """One row of an exhibit. parts: its labels, one a name under `rows`. units: [] when it has not been run.

    arm: the arm, or what several pooled arms are called.
    """

    source: str
    variant: str
    arm: str
    parts: tuple[str, ...]
    units: Sequence[Unit]

    @property
    def label(self) -> str:
        return " / ".join(self.parts)


def lines(block: ExhibitBlock, units: Sequence[Unit], sources: Sequence[Source]) -> list[Line]:
    """Every row: arms in the order of their specs, each with its units; arms that were not run have none."""
    found: list[Line] = []
    for source in sources:
        for variant in dict.fromkeys(source.points.values()):
            digests = {digest for digest, its in source.points.items() if its == variant}
            here = [unit for unit in units if unit["spec_digest"] in digests]
            for arm, pooled in block.shown(source.arms).items():
                mine = [unit for unit in here if unit["arm"] in pooled]
                found += _arm_lines(block, source.name, variant, arm, mine)
    return _grouped(block, _told_apart(block, found))


def together(block: ExhibitBlock, found: Sequence[Line]) -> list[Line]:
    """The same lines where block.together is set, those of one label as one; without empty ones of arms that have others.

    Such a line's source is one that is not compared with the paper, where it has one.
    """
    if not block.together:
        return list(found)
    ran = {line.arm for line in found if line.units}
    merged: dict[tuple[str, ...], list[Line]] = {}
    for line in found:
        if line.units or line.arm not in ran:
            merged.setdefault(line.parts, []).append(line)

    def one(its: Sequence[Line]) -> Line:
        sources = [line.source for line in its]
        source = next((name for name in sources if name not in block.compared), sources[0])
        return replace(its[0], source=source, units=[unit for line in its for unit in line.units])

    return [one(its) for its in merged.values()]


def _grouped(block: ExhibitBlock, found: Sequence[Line]) -> list[Line]:
    """The same lines; those that are alike in what stands before the arm come together, those that were not run last."""
    at = block.rows.index("arm") if "arm" in block.rows else 0
    places = list(dict.fromkeys(line.parts[:at] for line in found))
    return sorted(found, key=lambda line: (MISSING in line.parts[:at], places.index(line.parts[:at])))


def _arm_lines(block: ExhibitBlock, source: str, variant: str, arm: str, units: Sequence[Unit]) -> list[Line]:
    grouped: dict[tuple[str, ...], list[Unit]] = {}
    for unit in units:
        parts = tuple(arm if name == "arm" else str(unit[name]) for name in block.rows)
        grouped.setdefault(parts, []).append(unit)
    if not grouped:
        grouped[tuple(arm if name == "arm" else MISSING for name in block.rows)] = []
    return [Line(source, variant, arm, parts, its) for parts, its in grouped.items()]


def _told_apart(block: ExhibitBlock, found: Sequence[Line]) -> list[Line]:
    """The same lines, the sweep point behind the arm in brackets; an arm that two specs have is written `spec: arm`.

    Where the family stands in the row, or something else before the arm, specs that differ in it may have arms of one name.
    """
    if "arm" not in block.rows:
        return list(found)
    at = block.rows.index("arm")
    apart = [i for i, name in enumerate(block.rows) if i < at or name == "family"]
    specs: dict[tuple[str, ...], set[str]] = {}

    def place(line: Line) -> tuple[str, ...]:
        return line.arm, *(line.parts[i] for i in apart)

    for line in found:
        specs.setdefault(place(line), set()).add(line.source)

    def named(line: Line) -> Line:
        arm = line.arm if block.together or len(specs[place(line)]) == 1 else f"{line.source}: {line.arm}"
        arm += f" ({line.variant})" if line.variant else ""
        return replace(line, parts=(*line.parts[:at], arm, *line.parts[at + 1 :]))

    return [named(line) for line in found]


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
        return runs_interval(*_paired(of, by, units, base), block.confidence)
    runs = [means for its in _by_arm(units) if (means := _unit_means(its, of, by))]
    if column.statistic == "mean":
        return runs_interval(runs, confidence=block.confidence)
    values = _unit_means(units, of, by)
    if column.statistic in COUNTED:
        counted = runs if column.statistic == "arms" else values
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


def _unit_means(units: Sequence[Unit], of: str, by: str) -> dict[Any, float]:
    """Family (or chain) -> mean over its seeds and whatever else it has, of those that have a value."""
    grouped: dict[Any, list[float]] = {}
    for unit in units:
        if unit[of] is not None:
            grouped.setdefault(unit[by], []).append(unit[of])
    return {each: mean(values) for each, values in sorted(grouped.items())}


def _paired(of: str, by: str, units: Sequence[Unit], base: Sequence[Unit]) -> tuple[list[dict], list[dict]]:
    """Unit means of each arm of both, over what they all share: same spec, family, seed, and the same question or questions."""

    def keyed(rows: Sequence[Unit]) -> dict[tuple, Unit]:
        named = ("spec_digest", "family", "seed", "question_set", *(["question"] if by == "question" else []))
        return {tuple(row.get(name) for name in named): row for row in rows if row[of] is not None}

    ours, theirs = ([arm for its in _by_arm(rows) if (arm := keyed(its))] for rows in (units, base))
    if not ours or not theirs:
        return [], []
    shared = [key for key in ours[0] if all(key in arm for arm in (*ours, *theirs))]

    def means(arms: Sequence[dict[tuple, Unit]]) -> list[dict]:
        return [_unit_means([arm[key] for key in shared], of, by) for arm in arms]

    return means(ours), means(theirs)


def cell(line: Line, column: str, ours: Estimate, paper: PaperValue | None, tolerance: float) -> Cell:
    """`ours` beside the paper's value, where there is one."""
    if paper is None:
        return Cell(line.label, column, ours.value, ours.n, ours.low, ours.high)
    allowed = tolerance if paper.tolerance is None else paper.tolerance
    # A hair of slack: 0.6 against 0.5 +- 0.1 agrees, whatever binary fractions say.
    within = None if ours.value is None else abs(ours.value - paper.value) <= allowed + 1e-12
    return Cell(line.label, column, ours.value, ours.n, ours.low, ours.high, paper.value, allowed, within)
