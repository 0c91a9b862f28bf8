"""From SQL rows, one a spec, arm, family and seed, to cells with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hbench.exhibits.block import ExhibitBlock, PaperValue
from hbench.exhibits.sources import Source
from hbench.exhibits.statistics import Estimate

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


def cell(line: Line, column: str, ours: Estimate, paper: PaperValue | None, tolerance: float) -> Cell:
    """`ours` beside the paper's value, where there is one."""
    if paper is None:
        return Cell(line.label, column, ours.value, ours.n, ours.low, ours.high)
    allowed = tolerance if paper.tolerance is None else paper.tolerance
    # A hair of slack: 0.6 against 0.5 +- 0.1 agrees, whatever binary fractions say.
    within = None if ours.value is None else abs(ours.value - paper.value) <= allowed + 1e-12
    return Cell(line.label, column, ours.value, ours.n, ours.low, ours.high, paper.value, allowed, within)
