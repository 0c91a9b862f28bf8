"""From SQL rows, one a spec, arm, family and seed, to cells with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hbench.exhibits.block import COUNTS, ExhibitBlock, PaperValue
from hbench.exhibits.sources import Source
from hbench.exhibits.statistics import Estimate, mean, mean_interval, paired_difference

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
    """One row of an exhibit. parts: its labels, one a name under `rows`. units: [] when it has not been run."""

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
            for arm in block.shown(source.arms):
                found += _arm_lines(block, source.name, variant, arm, [u for u in here if u["arm"] == arm])
    return _told_apart(block, found)


def _arm_lines(block: ExhibitBlock, source: str, variant: str, arm: str, units: Sequence[Unit]) -> list[Line]:
    grouped: dict[tuple[str, ...], list[Unit]] = {}
    for unit in units:
        grouped.setdefault(tuple(str(unit[name]) for name in block.rows), []).append(unit)
    if not grouped:
        grouped[tuple(arm if name == "arm" else MISSING for name in block.rows)] = []
    return [Line(source, variant, arm, parts, its) for parts, its in grouped.items()]


def _told_apart(block: ExhibitBlock, found: Sequence[Line]) -> list[Line]:
    """The same lines, the sweep point behind the arm in brackets; an arm that two specs have is written `spec: arm`.

    Where the family stands in the row, specs on different families may have arms of one name.
    """
    if "arm" not in block.rows:
        return list(found)
    at = block.rows.index("arm")
    specs: dict[tuple[str, str], set[str]] = {}

    def place(line: Line) -> tuple[str, str]:
        return line.arm, line.parts[block.rows.index("family")] if "family" in block.rows else ""

    for line in found:
        specs.setdefault(place(line), set()).add(line.source)

    def named(line: Line) -> Line:
        arm = line.arm if len(specs[place(line)]) == 1 else f"{line.source}: {line.arm}"
        arm += f" ({line.variant})" if line.variant else ""
        return replace(line, parts=(*line.parts[:at], arm, *line.parts[at + 1 :]))

    return [named(line) for line in found]


def estimate(block: ExhibitBlock, name: str, units: Sequence[Unit], base: Sequence[Unit]) -> Estimate:
    """The cell of `units` in this column. base: the baseline's units, for a difference."""
    column, by = block.columns[name], block.unit
    of = column.of or name
    if column.statistic == "difference":
        ours, theirs = _paired(of, by, units, base)
        return paired_difference(ours, theirs, block.confidence)
    values = _unit_means(units, of, by)
    if column.statistic in COUNTS.values():
        return Estimate(float(len(values)), len(values)) if units else Estimate(None, 0)
    if column.statistic == "best":
        return Estimate(max(values.values(), default=None), len(values))
    if column.statistic == "sum":
        # Chains and repeats of one family ask the same questions: those count once.
        asked = {(unit.get("family"), unit.get("question_set") or i): unit[of] for i, unit in enumerate(units)}
        known = [value for value in asked.values() if value is not None]
        return Estimate(float(sum(known)) if known else None, len(values))
    return mean_interval(list(values.values()), block.confidence)


def _unit_means(units: Sequence[Unit], of: str, by: str) -> dict[Any, float]:
    """Family (or chain) -> mean over its seeds and whatever else it has, of those that have a value."""
    grouped: dict[Any, list[float]] = {}
    for unit in units:
        if unit[of] is not None:
            grouped.setdefault(unit[by], []).append(unit[of])
    return {each: mean(values) for each, values in sorted(grouped.items())}


def _paired(of: str, by: str, units: Sequence[Unit], base: Sequence[Unit]) -> tuple[dict[Any, float], dict[Any, float]]:
    """Unit means of both over what they share: same spec, family, seed, and the same questions."""

    def keyed(rows: Sequence[Unit]) -> dict[tuple, Unit]:
        named = ("spec_digest", "family", "seed", "question_set")
        return {tuple(row.get(name) for name in named): row for row in rows if row[of] is not None}

    ours, theirs = keyed(units), keyed(base)
    shared = [key for key in ours if key in theirs]
    return _unit_means([ours[k] for k in shared], of, by), _unit_means([theirs[k] for k in shared], of, by)


def cell(line: Line, column: str, ours: Estimate, paper: PaperValue | None, tolerance: float) -> Cell:
    """`ours` beside the paper's value, where there is one."""
    if paper is None:
        return Cell(line.label, column, ours.value, ours.n, ours.low, ours.high)
    allowed = tolerance if paper.tolerance is None else paper.tolerance
    # A hair of slack: 0.6 against 0.5 +- 0.1 agrees, whatever binary fractions say.
    within = None if ours.value is None else abs(ours.value - paper.value) <= allowed + 1e-12
    return Cell(line.label, column, ours.value, ours.n, ours.low, ours.high, paper.value, allowed, within)
