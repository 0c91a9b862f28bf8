"""An exhibit as files: Markdown, CSV, LaTeX, plots, diffs. Numbers come from its cells; none is computed here."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.exhibits.block import ColumnBlock
from hbench.exhibits.cells import MISSING, Cell
from hbench.exhibits.diff import diff_html, diff_markdown
from hbench.exhibits.figure import figure_files

if TYPE_CHECKING:
    from hbench.exhibits.exhibit import Exhibit

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "±": r"\(\pm\)",
    "×": r"\(\times\)",
}


def write(exhibit: "Exhibit", folder: Path) -> list[Path]:
    """Writes <name>.md, .csv and .tex into `folder`, with diffs <name>_diffs.md and .html, with a figure .svg and .png.

    Returns their paths. A figure over several x has one pair of files for each, <name>_<x>.
    """
    return [*write_texts(exhibit, folder), *write_figures(exhibit, folder)]


def write_texts(exhibit: "Exhibit", folder: Path) -> list[Path]:
    """The same without figures."""
    made = {f"{exhibit.name}.{ending}": text.encode() for ending, text in _texts_of(exhibit).items()}
    if exhibit.block.diff is not None:
        title = exhibit.block.title
        made[f"{exhibit.name}_diffs.md"] = diff_markdown(title, exhibit.diffs).encode("utf-8", "replace")
        made[f"{exhibit.name}_diffs.html"] = diff_html(title, exhibit.diffs).encode("utf-8", "xmlcharrefreplace")
    return _put(folder, made)


def write_figures(exhibit: "Exhibit", folder: Path) -> list[Path]:
    """The same, figures alone; none where the exhibit has none."""
    return _put(folder, figure_files(exhibit))


def _put(folder: Path, made: Mapping[str, bytes]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in made.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in made]


def _texts_of(exhibit: "Exhibit") -> dict[str, str]:
    return {"md": markdown(exhibit), "csv": csv_lines(exhibit), "tex": latex(exhibit)}


@dataclass(frozen=True)
class Written:
    """A cell's texts. value: a dash where nothing was measured. interval, paper: "" where there is none to show.

    verdict: agrees or differs; "" where there is nothing to compare.
    """

    value: str
    interval: str = ""
    paper: str = ""
    verdict: str = ""

    def __str__(self) -> str:
        """`0.41 [0.30, 0.52] (paper 0.38, agrees)`"""
        paper = ", ".join(filter(None, (f"paper {self.paper}", self.verdict))) if self.paper else ""
        return " ".join(filter(None, (self.value, self.interval, paper and f"({paper})")))


def written(cell: Cell, column: ColumnBlock) -> Written:
    """The cell as its column wants it written."""
    known = column.interval and cell.low is not None and cell.high is not None
    return Written(
        MISSING if cell.value is None else _number(cell.value, column),
        f"[{_number(cell.low, column)}, {_number(cell.high, column)}]" if known else "",
        "" if cell.paper_value is None else _number(cell.paper_value, column),
        {None: "", True: "agrees", False: "differs"}[cell.within],
    )


def cell_text(cell: Cell, column: ColumnBlock) -> str:
    """`0.41 [0.30, 0.52]`, a dash where nothing was measured, and the paper's value behind it where there is one."""
    return str(written(cell, column))


def _number(value: float, column: ColumnBlock) -> str:
    text = column.format % value
    return text.replace("-", "", 1) if text.startswith("-") and not any(c in "123456789" for c in text) else text


def table(exhibit: "Exhibit") -> tuple[list[str], list[list[str]]]:
    """Headings, and the text of every row."""
    head = [*exhibit.block.rows, *(c.title or name for name, c in exhibit.block.columns.items())]
    return head, [[*parts, *texts] for parts, texts in zip(exhibit.rows, _texts(exhibit), strict=True)]


def _texts(exhibit: "Exhibit") -> Iterator[list[str]]:
    columns = list(exhibit.block.columns.values())
    for start in range(0, len(exhibit.cells), len(columns)):
        row = exhibit.cells[start : start + len(columns)]
        yield [cell_text(cell, column) for cell, column in zip(row, columns, strict=True)]


def markdown(exhibit: "Exhibit") -> str:
    """A GitHub table under its title, aligned so that it also reads well as plain text."""
    head, rows = table(exhibit)
    grid = [[_one_line(text) for text in row] for row in (head, *rows)]
    widths = [max(3, *(len(row[i]) for row in grid)) for i in range(len(head))]
    labels = len(exhibit.block.rows)
    rule = ["-" * w if i < labels else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    body = [_markdown_row(row, widths, labels) for row in (grid[0], rule, *grid[1:])]
    source = f"\n*{_one_line(exhibit.block.source)}*\n" if exhibit.block.source else ""
    notes = "\n".join(f"- {printable(line)}" for line in exhibit.caption)
    return f"# {exhibit.block.title}\n{source}\n" + "\n".join(body) + f"\n\n{notes}\n"


def _one_line(text: str) -> str:
    return printable(" ".join(text.split())).replace("|", "\\|")


def printable(text: str) -> str:
    """The same in one line, with nothing in it that a terminal obeys: names, captions and questions may come from anywhere."""
    return "".join(c if c.isprintable() else " " for c in text)


def _markdown_row(row: list[str], widths: list[int], labels: int) -> str:
    sized = enumerate(zip(row, widths, strict=True))
    cells = [text.ljust(width) if i < labels else text.rjust(width) for i, (text, width) in sized]
    return "| " + " | ".join(cells) + " |"


def csv_lines(exhibit: "Exhibit") -> str:
    """One line a cell, numbers at full precision: the rows of the table `exhibit_cells`."""
    out = io.StringIO()
    rows = exhibit.table_rows()
    head = ["exhibit", *Cell.__dataclass_fields__]
    writer = csv.DictWriter(out, fieldnames=head, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def latex(exhibit: "Exhibit") -> str:
    """A floating table for `\\usepackage{booktabs}`."""
    head, rows = table(exhibit)
    labels = len(exhibit.block.rows)
    lines = [" & ".join(latex_text(text) for text in row) + r" \\" for row in (head, *rows)]
    about = " ".join([f"{exhibit.block.title}.", *exhibit.caption])
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            r"\begin{tabular}{" + "l" * labels + "r" * (len(head) - labels) + "}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{latex_text(about)}}}",
            rf"\label{{tab:{exhibit.name.replace('_', '-')}}}",
            r"\end{table}",
            "",
        ]
    )


def latex_text(text: str) -> str:
    """`text` with everything escaped that means something to LaTeX. A leading minus becomes a true one."""
    escaped = "".join(LATEX.get(character, character) for character in " ".join(text.split()))
    return re.sub(r"(?<![\w-])-(?=\d)", r"\\(-\\)", escaped)
