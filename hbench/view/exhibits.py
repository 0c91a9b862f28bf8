"""Exhibits: which there are, and each one as the results or the bundle have it now."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hbench.core.failure import HbenchError
from hbench.core.places import find_file
from hbench.exhibits.behind import cell_sql
from hbench.exhibits.cells import Cell
from hbench.exhibits.diff import hunks
from hbench.exhibits.exhibit import Exhibit, names, read
from hbench.exhibits.render import cell_text, csv_lines, latex, markdown
from hbench.view.exhibits_made import Made, made
from hbench.view.page import NotFound, page

WAIT_S = 1.0  # for one that is being made; after that the page says so, and looks again
TYPES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv", "tex": "text/plain", "md": "text/plain"}


def exhibits(request: Any) -> Any:
    """Every exhibit with its title and its place in a paper."""
    return page(request, "exhibits.html", exhibits=list(_listed()))


def _listed() -> Iterator[dict[str, Any]]:
    import yaml

    for name in names():
        try:
            said = yaml.load(find_file("specs", f"exhibits/{name}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
            yield {"name": name, "title": said["title"], "source": said.get("source", ""), "from": said["from"]}
        except (yaml.YAMLError, OSError, KeyError, TypeError) as bad:
            yield {"name": name, "title": f"cannot be read: {bad}", "source": "", "from": []}


def exhibit(request: Any) -> Any:
    """One exhibit; while it is being made, a page that says so."""
    name = request.path_params["name"]
    block, sql = _read(name)
    found, trouble = None, ""
    try:
        found = made(request.app.state.reading, name, WAIT_S)
    except HbenchError as bad:
        trouble = str(bad)
    values: dict[str, Any] = {"rows": list(_rows(found.exhibit)), "diffs": [(d, list(hunks(d))) for d in found.exhibit.diffs]} if found else {}
    return page(request, "exhibit.html", name=name, block=block, sql=sql, found=found, trouble=trouble, **values)


def exhibit_file(request: Any) -> Any:
    """Its figure, or its table as CSV, LaTeX or Markdown: what `hbench exhibit` writes."""
    from starlette.responses import Response

    name, file = request.path_params["name"], request.path_params["file"]
    _read(name)
    found = made(request.app.state.reading, name, None)
    content = _files(found).get(file)
    if content is None:
        raise NotFound(f"exhibit {name} has no file {file}")
    return Response(content, media_type=TYPES[file.rpartition(".")[2]])


def _read(name: str) -> Any:
    if name not in names():
        raise NotFound(f"no exhibit {name} (there are: {', '.join(names())})")
    return read(name)


def _files(found: Made) -> dict[str, bytes | str]:
    texts = {"csv": csv_lines, "tex": latex, "md": markdown}
    name = found.exhibit.name
    return {**found.figures, **{f"{name}.{ending}": text(found.exhibit) for ending, text in texts.items()}}


@dataclass(frozen=True)
class Shown:
    """A cell and how its table writes it. sql: for the rows that it is made of, over `units`; "" where there are none."""

    cell: Cell
    text: str
    sql: str

    @property
    def verdict(self) -> str:
        """Whether it agrees with the paper; empty where there is nothing to compare."""
        return {None: "", True: "agrees", False: "differs"}[self.cell.within]


def _rows(exhibit: Exhibit) -> Iterator[tuple[tuple[str, ...], list[Shown]]]:
    """The labels of each row, and its cells."""
    block = exhibit.block
    for at, (parts, made_of) in enumerate(zip(exhibit.rows, exhibit.behind, strict=True)):
        cells = zip(exhibit.cells[at * len(block.columns) :], block.columns.items(), strict=False)
        yield parts, [Shown(cell, cell_text(cell, column), cell_sql(block, name, made_of)) for cell, (name, column) in cells]


ROUTES = [("/exhibits", exhibits), ("/exhibits/{name}", exhibit), ("/exhibits/{name}/{file}", exhibit_file)]
