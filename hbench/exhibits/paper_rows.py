"""Rows of the paper that stand in a table before ours are measured, and whose specs would fill them."""

from collections.abc import Iterator, Sequence

from hbench.exhibits.block import ExhibitBlock
from hbench.exhibits.cells import Line
from hbench.exhibits.sources import Source


def with_paper_rows(block: ExhibitBlock, found: Sequence[Line], apart: Sequence[Line], sources: Sequence[Source]) -> list[Line]:
    """`found`, then the rows that the paper has and we have not, where ours repeat its setting.

    An arm that was not run is left out where a row of the paper stands for it. apart: the lines before those of several specs
    were made one.
    """
    rows = list(_paper_only(block, found, sources))
    unrun = [line for line in apart if not line.units and line.source in block.compared]
    theirs = [(row, _fillers(block, row, unrun)) for row in rows]
    stood_for = {(line.source, line.arm) for _, fillers in theirs for line in fillers}
    ours = [line for line in found if line.units or (line.source, line.arm) not in stood_for]
    return ours + [Line(", ".join(dict.fromkeys(line.source for line in its)), "", "", row, []) for row, its in theirs]


def _paper_only(block: ExhibitBlock, found: Sequence[Line], sources: Sequence[Source]) -> Iterator[tuple[str, ...]]:
    if any(source.name in block.compared for source in sources):
        ours = {line.label for line in found}
        yield from (tuple(row.split(" / ")) for row in block.paper if row not in ours)


def _fillers(block: ExhibitBlock, row: tuple[str, ...], unrun: Sequence[Line]) -> list[Line]:
    """The arms that would fill it: those of its name, in specs called after the family or domain of the row if there are any."""
    arm = row[block.rows.index("arm")] if "arm" in block.rows else None
    named = [line for line in unrun if arm in (None, line.arm)]
    return [line for line in named if any(part in line.source for part in row if part != arm)] or named
