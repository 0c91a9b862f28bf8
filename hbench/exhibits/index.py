"""Every exhibit on one page that needs nothing else: `index.html`, beside the files that `render.write` makes."""

import base64
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core.places import find_file
from hbench.exhibits.behind import Behind, select
from hbench.exhibits.block import COUNTS, PAIRED, ColumnBlock, ExhibitBlock
from hbench.exhibits.cells import Cell
from hbench.exhibits.figure import figure_names, is_drawn
from hbench.exhibits.render import Written, written

if TYPE_CHECKING:
    from hbench.exhibits.exhibit import Exhibit

PAGES = Path(__file__).parent / "pages"
DIGITS = 6  # of a number that a cell opens to; the CSV file has all


def write_index(exhibits: Sequence["Exhibit"], folder: Path) -> Path:
    """Writes index.html with these exhibits, whose files lie in `folder` already. Returns its path."""
    file = folder / "index.html"
    file.write_text(index_html([Shown(exhibit, folder) for exhibit in exhibits]), encoding="utf-8")
    return file


def index_html(shown: Sequence["Shown"]) -> str:
    """The page. All texts are escaped; the same exhibits give the same bytes."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    neat = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    pages = Environment(loader=FileSystemLoader(PAGES), autoescape=True, **neat)
    pages.filters["code"] = _with_code
    papers: dict[str, list[Shown]] = {}
    for each in sorted(shown, key=lambda each: each.place):
        papers.setdefault(each.paper, []).append(each)
    views = dict.fromkeys(view for each in shown for view in each.exhibit.block.views)
    texts = {view: _sql(f"views/{view}") for view in sorted(views)}
    return pages.get_template("index.html").render(papers=papers, views=texts)


@dataclass(frozen=True)
class Shown:
    """An exhibit as the page shows it. folder: where its figures lie."""

    exhibit: "Exhibit"
    folder: Path

    @property
    def name(self) -> str:
        return self.exhibit.name

    @property
    def paper(self) -> str:
        """The paper that it repeats; what stands before the first comma of its source."""
        return self.exhibit.block.source.partition(",")[0] or "Own"

    @property
    def place(self) -> tuple:
        """Papers by name; in each by the first number in the source, exhibits without one last."""
        within = self.exhibit.block.source.partition(",")[2]
        number = re.search(r"(?:Table|Figure)s? (\d+)", within)
        return self.paper, int(number[1]) if number else 1000, within, self.name

    @cached_property
    def rows(self) -> list[tuple[tuple[str, ...], list[Written]]]:
        """The labels of each row, and how its cells are written."""
        columns = list(self.exhibit.block.columns.values())
        cells = [self.exhibit.cells[at : at + len(columns)] for at in range(0, len(self.exhibit.cells), len(columns))]
        made = ([written(c, column) for c, column in zip(row, columns, strict=True)] for row in cells)
        return list(zip(self.exhibit.rows, made, strict=True))

    @property
    def measured(self) -> int:
        return sum(cell.value is not None for cell in self.exhibit.cells)

    @property
    def beside_paper(self) -> str:
        """How many cells agree with the paper and how many differ; before there is one of ours, how many values it has."""
        found = [cell.within for cell in self.exhibit.cells if cell.paper_value is not None]
        compared = [f"{found.count(within)} {told}" for within, told in ((True, "agree"), (False, "differ")) if within in found]
        return ", ".join(compared) or (f"{len(found)} known" if found else "")

    @property
    def figures(self) -> Iterator[str]:
        """Each figure in which there is something, as a data address: it stays what it is, whatever else is on the page."""
        for name in figure_names(self.exhibit).values() if is_drawn(self.exhibit) else ():
            made = base64.b64encode((self.folder / f"{name}.svg").read_bytes()).decode()
            yield f"data:image/svg+xml;base64,{made}"

    @property
    def files(self) -> list[str]:
        """Those beside the page that the repository keeps."""
        diffs = [f"{self.name}_diffs.html"] if self.exhibit.block.diff else []
        drawn = [f"{name}.svg" for name in figure_names(self.exhibit).values()]
        return [*(f"{self.name}.{ending}" for ending in ("md", "csv", "tex")), *drawn, *diffs]

    @property
    def sql(self) -> str:
        return _sql(self.name)

    @property
    def data(self) -> str:
        """JSON of what cells open to, for the page's script; safe inside a script element."""
        block = self.exhibit.block
        columns = [
            [column.title or name, _made(column, block), select(block, name), int(column.statistic in PAIRED)]
            for name, column in block.columns.items()
        ]
        named = zip(self.exhibit.behind, self.exhibit.rows, strict=True)
        rows = [[*_behind(row), block.unfilled.get(" / ".join(parts), "")] for row, parts in named]
        found = {"units": COUNTS[block.unit], "confidence": block.confidence, "columns": columns, "rows": rows}
        made = json.dumps({**found, "cells": [_numbers(cell) for cell in self.exhibit.cells]}, separators=(",", ":"))
        return made.replace("<", "\\u003c")


def _made(column: ColumnBlock, block: ExhibitBlock) -> str:
    """In words, how a cell is made of its rows."""
    said = f"{column.statistic} from {block.baseline}" if column.statistic in PAIRED else column.statistic
    said += f" over {column.over}" if column.over else ""
    return said + (f" per {column.per}" if column.per else "")


def _behind(row: Behind) -> list[str]:
    return [row.spec, row.where, row.paired if row.paired != row.where else ""]


def _numbers(cell: Cell) -> list[Any]:
    """value, n, low, high, the paper's value, its tolerance; without what is missing at the end."""
    found = [cell.value, cell.n, cell.low, cell.high, cell.paper_value, cell.tolerance if cell.paper_value is not None else None]
    shown = [float(f"%.{DIGITS}g" % each) if isinstance(each, float) else each for each in found]
    while shown and shown[-1] is None:
        shown.pop()
    return shown


def _sql(name: str) -> str:
    file = find_file("specs", f"exhibits/{name}.sql")
    return file.read_text(encoding="utf-8").strip() if file else ""


def _with_code(text: str) -> Any:
    """Escaped, what stands between backticks as code."""
    from markupsafe import Markup, escape

    parts = text.split("`")
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts))
