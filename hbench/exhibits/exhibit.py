"""A paper table, regenerated from SQL: `regenerate(name, results, specs) -> Exhibit`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core.failure import HbenchError
from hbench.core.places import find_file, roots
from hbench.exhibits.block import ExhibitBlock
from hbench.exhibits.caption import caption
from hbench.exhibits.cells import Cell, Line, cell, estimate, lines
from hbench.exhibits.sources import Source, count_newest_runs, load_sources

if TYPE_CHECKING:
    from hbench.spec.problems import Problem

__all__ = ["Cell", "Exhibit", "ExhibitBlock", "names", "read", "regenerate", "regenerate_from", "validated"]


@dataclass(frozen=True)
class Exhibit:
    """rows: the labels of each row, one a name in block.rows. cells: row by row, in the order of the columns.

    caption: sentences on what was counted, and on what is missing and how to get it.
    """

    name: str
    block: ExhibitBlock
    rows: tuple[tuple[str, ...], ...]
    cells: tuple[Cell, ...]
    caption: tuple[str, ...]

    def table_rows(self) -> list[dict[str, Any]]:
        """Rows of the table `exhibit_cells`."""
        return [{"exhibit": self.name, **asdict(cell)} for cell in self.cells]


def names() -> list[str]:
    """The exhibits there are, sorted."""
    return sorted({file.stem for root in roots("specs") for file in (root / "exhibits").glob("*.yaml")})


def read(name: str) -> tuple[ExhibitBlock, str]:
    """The exhibit's YAML, validated, and its SQL. Raises HbenchError for an unknown name, SpecError for a bad file."""
    from hbench.spec.problems import SpecError

    yaml, sql = find_file("specs", f"exhibits/{name}.yaml"), find_file("specs", f"exhibits/{name}.sql")
    if yaml is None or sql is None:
        raise HbenchError(f"no exhibit {name!r} (there are: {', '.join(names())})")
    block, problems = validated(yaml)
    if problems:
        raise SpecError(problems)
    return block, sql.read_text(encoding="utf-8")


def validated(file: Path) -> "tuple[ExhibitBlock | None, list[Problem]]":
    """The exhibit that `file` describes, or None and every problem with it: what `hbench check` says of exhibits."""
    from pydantic import ValidationError

    from hbench.spec.problems import Mark, Problem
    from hbench.spec.source import read as read_source
    from hbench.spec.validate import problems_of

    source = read_source(file)
    problems = list(source.problems)
    if not file.with_suffix(".sql").is_file():
        problems.append(Problem(Mark(source.file), f"{file.stem}.sql is missing beside it"))
    try:
        block = ExhibitBlock.model_validate(source.tree.values) if source.readable else None
    except ValidationError as error:
        return None, problems + problems_of(error, ExhibitBlock, source.tree)
    return (None if problems else block), problems


def regenerate(name: str, results: Path, specs: Sequence[str] = ()) -> Exhibit:
    """The exhibit as the results folder has it now. specs: names or files that take the place of the YAML's `from`.

    Only rows reached through the labels of each spec's newest finished run enter a cell.
    """
    from hbench.store.database import open_database

    block, sql = read(name)
    with open_database(results) as connection:
        count_newest_runs(connection)
        return regenerate_from(connection, (name, block, sql), load_sources(connection, specs or block.from_))


def regenerate_from(connection: Any, exhibit: tuple[str, ExhibitBlock, str], sources: Sequence[Source]) -> Exhibit:
    """The same from a connection with `count_newest_runs`, and specs already read. exhibit: its name, YAML and SQL."""
    name, block, sql = exhibit
    found = lines(block, _units(connection, sql, sources), sources)
    rows = [line.parts for line in found]
    cells = [c for line in found for c in _row_cells(block, line, found)]
    for row in _paper_only(block, found, sources):
        rows.append(row)
        cells += _row_cells(block, Line("", "", "", row, []), found)
    return Exhibit(name, block, tuple(rows), tuple(cells), caption(connection, block, sources, found))


def _units(connection: Any, sql: str, sources: Sequence[Source]) -> list[dict[str, Any]]:
    """One dict a row of the exhibit's SQL."""
    digests = [digest for source in sources for digest in source.points]
    result = connection.execute(sql, {"specs": digests})
    head = [column[0] for column in result.description]
    return [dict(zip(head, row, strict=True)) for row in result.fetchall()]


def _row_cells(block: ExhibitBlock, line: Line, found: Sequence[Line]) -> list[Cell]:
    base = _baseline(block, line, found)
    paper = block.paper.get(line.label, {}) if line.source in ("", *block.compared) else {}
    return [
        cell(line, name, estimate(column, name, line.units, base, block.confidence), paper.get(name), block.tolerance)
        for name, column in block.columns.items()
    ]


def _baseline(block: ExhibitBlock, line: Line, found: Sequence[Line]) -> Sequence[Any]:
    """The units of the baseline arm in the same spec and the same row otherwise; none for the baseline itself."""
    if line.arm == block.baseline:
        return []
    at = block.rows.index("arm")

    def elsewhere(parts: tuple[str, ...]) -> tuple[str, ...]:
        return parts[:at] + parts[at + 1 :]

    alike = (o for o in found if (o.source, o.variant, o.arm) == (line.source, line.variant, block.baseline))
    return next((o.units for o in alike if elsewhere(o.parts) == elsewhere(line.parts)), [])


def _paper_only(block: ExhibitBlock, found: Sequence[Line], sources: Sequence[Source]) -> list[tuple[str, ...]]:
    """Rows that the paper has and we have not, where ours repeat its setting."""
    if not any(source.name in block.compared for source in sources):
        return []
    ours = {line.label for line in found}
    return [tuple(row.split(" / ")) for row in block.paper if row not in ours]
