"""A paper table, regenerated from SQL: `regenerate(name, results, specs) -> Exhibit`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.core.places import find_file, roots
from hbench.exhibits.behind import Behind, behind
from hbench.exhibits.block import ExhibitBlock
from hbench.exhibits.caption import caption
from hbench.exhibits.cells import Cell, Line, cell, lines, together
from hbench.exhibits.diff import Diff, diffs_of
from hbench.exhibits.estimates import estimate
from hbench.exhibits.opened import Opened
from hbench.exhibits.paper_rows import with_paper_rows
from hbench.exhibits.sources import Source, count_newest_runs

__all__ = ["Cell", "Exhibit", "ExhibitBlock", "names", "read", "regenerate", "regenerate_all", "regenerate_from"]


@dataclass(frozen=True)
class Exhibit:
    """rows: the labels of each row, one a name in block.rows. cells: row by row, in the order of the columns.

    caption: sentences on what was counted, and on what is missing and how to get it. behind: one a row, or (). diffs: texts
    side by side.
    """

    name: str
    block: ExhibitBlock
    rows: tuple[tuple[str, ...], ...]
    cells: tuple[Cell, ...]
    caption: tuple[str, ...]
    behind: tuple[Behind, ...] = ()
    diffs: tuple[Diff, ...] = ()

    def table_rows(self) -> list[dict[str, Any]]:
        """Rows of the table `exhibit_cells`."""
        return [{"exhibit": self.name, **{name: getattr(cell, name) for name in Cell.__dataclass_fields__}} for cell in self.cells]


def names() -> list[str]:
    """The exhibits there are, sorted."""
    return sorted({file.stem for root in roots("specs") for file in (root / "exhibits").glob("*.yaml")})


def read(name: str) -> tuple[ExhibitBlock, str]:
    """The exhibit's YAML, validated, and its SQL with its views before it.

    Raises HbenchError for an unknown name, SpecError for a bad file.
    """
    from hbench.spec import SpecError
    from hbench.spec.validate import read_block

    file, sql = find_file("specs", f"exhibits/{name}.yaml"), find_file("specs", f"exhibits/{name}.sql")
    if file is None or sql is None:
        raise HbenchError(f"no exhibit {name!r} with its .yaml and .sql (there are: {', '.join(names())})")
    block, problems = read_block(file, ExhibitBlock)
    if block is None:
        raise SpecError(problems)
    return block, "\n".join(part.read_text(encoding="utf-8") for part in (*_views(name, block), sql))


def _views(name: str, block: ExhibitBlock) -> list[Path]:
    """The files of the temporary views that its SQL reads."""
    files = {view: find_file("specs", f"exhibits/views/{view}.sql") for view in block.views}
    if lacking := [view for view, file in files.items() if file is None]:
        raise HbenchError(f"exhibits/{name}.yaml: there is no exhibits/views/{lacking[0]}.sql")
    return [file for file in files.values() if file is not None]


def regenerate(name: str, results: Path, specs: Sequence[str] = (), bundle: str | None = None) -> Exhibit:
    """The exhibit as the results folder has it now; finished steps are folded in first.

    specs: names or files, with overrides behind them if need be, that take the place of the YAML's `from`. Only rows
    reached through the labels of each spec's newest finished run enter a cell; what was not run is shown as missing, with
    the command that fills it. bundle: a published one to read in place of the results folder, as `from: [published/NAME]`
    does.
    """
    with Opened(results) as opened:
        return _made(opened, name, specs, bundle)


def regenerate_all(results: Path) -> Iterator[Exhibit]:
    """Every exhibit there is, by name, as `regenerate` makes it; the results folder and each bundle are read once."""
    with Opened(results) as opened:
        for name in names():
            yield _made(opened, name)


@contextmanager
def opened_units(name: str, results: Path, bundle: str | None = None) -> Iterator[Any]:
    """A connection with the table `units`: what the exhibit's SQL gives, from which its cells are made."""
    block, sql = read(name)
    with Opened(results) as opened:
        place = opened.place(block.from_, bundle)
        count_newest_runs(place.connection, _digests(place.sources))
        put_units(place.connection, name, sql, place.sources)
        yield place.connection


def _made(opened: Opened, name: str, specs: Sequence[str] = (), bundle: str | None = None) -> Exhibit:
    block, sql = read(name)
    place = opened.place(specs or block.from_, bundle)
    made = regenerate_from(place.connection, (name, block, sql), place.sources)
    return replace(made, caption=(*made.caption, *place.told))


def regenerate_from(connection: Any, exhibit: tuple[str, ExhibitBlock, str], sources: Sequence[Source]) -> Exhibit:
    """The same from a connection to results or to a bundle, and specs already read. exhibit: its name, YAML and SQL."""
    name, block, _ = exhibit
    count_newest_runs(connection, _digests(sources))
    units = _units(connection, exhibit, sources)
    apart = lines(block, units, sources)
    found = with_paper_rows(block, together(block, apart), apart, sources)
    cells = [c for line in found for c in _row_cells(block, line, found)]
    made_of = tuple(behind(block, line, units) for line in found)
    diffs = diffs_of(block.diff, units) if block.diff else ()
    told = caption(connection, block, sources, apart)
    return Exhibit(name, block, tuple(line.parts for line in found), tuple(cells), told, made_of, diffs)


def _digests(sources: Sequence[Source]) -> list[str]:
    return [digest for source in sources for digest in source.points]


def _units(connection: Any, exhibit: tuple[str, ExhibitBlock, str], sources: Sequence[Source]) -> list[dict[str, Any]]:
    """One dict a row of the exhibit's SQL. Raises HbenchError where it fails or lacks a column that the YAML names."""
    name, block, sql = exhibit
    put_units(connection, name, sql, sources)
    result = connection.execute("select * from units")
    head = [column[0] for column in result.description]
    wanted = ["spec_digest", "family", "seed", block.unit, *block.rows]
    wanted += [c.of or column for column, c in block.columns.items()] + (block.diff.columns() if block.diff else [])
    wanted += [made for c in block.columns.values() for made in (c.per, c.over) if made]
    if lacking := [column for column in dict.fromkeys(wanted) if column not in head]:
        raise HbenchError(f"exhibits/{name}.sql gives no column {', '.join(lacking)} (it gives {', '.join(head)})")
    return [dict(zip(head, row, strict=True)) for row in result.fetchall()]


def put_units(connection: Any, name: str, sql: str, sources: Sequence[Source]) -> None:
    """Makes the temporary table `units` of what the exhibit's SQL gives. Raises HbenchError where it fails."""
    import duckdb

    try:
        *views, last = connection.extract_statements(sql)
        for view in views:
            connection.execute(view)
        connection.execute(f"create or replace temporary table units as\n{last.query}", {"specs": _digests(sources)})
    except duckdb.Error as error:
        raise HbenchError(f"exhibits/{name}.sql: {error}") from error


def _row_cells(block: ExhibitBlock, line: Line, found: Sequence[Line]) -> list[Cell]:
    base = _baseline(block, line, found)
    paper = block.paper.get(line.label, {}) if not line.arm or line.source in block.compared else {}
    return [
        cell(line, name, estimate(block, name, line.units, base), paper.get(name), block.tolerance)
        for name in block.columns
    ]


def _baseline(block: ExhibitBlock, line: Line, found: Sequence[Line]) -> Sequence[Any]:
    """The units of the baseline arm in the same spec and the same row otherwise; none for the baseline itself."""
    if block.baseline is None or line.arm == block.baseline:
        return []
    at = block.rows.index("arm")

    def elsewhere(parts: tuple[str, ...]) -> tuple[str, ...]:
        return parts[:at] + parts[at + 1 :]

    def spec(of: Line) -> tuple[str, ...]:
        return (of.variant,) if block.together else (of.source, of.variant)

    alike = (o for o in found if o.arm == block.baseline and spec(o) == spec(line))
    return next((o.units for o in alike if elsewhere(o.parts) == elsewhere(line.parts)), [])
