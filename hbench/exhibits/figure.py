"""What a figure shows: an exhibit's cells as curves and horizontal lines, still without a pen (that is draw.py)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hbench.exhibits.block import FigureBlock
from hbench.exhibits.cells import MISSING, Cell
from hbench.exhibits.draw import PAPER, draw

if TYPE_CHECKING:
    from hbench.exhibits.exhibit import Exhibit


@dataclass(frozen=True)
class Dot:
    """A value at x with its interval, None where it has none."""

    x: float
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Curve:
    """style: which colour, marker and dash; a curve of the paper is drawn hollow in its counterpart's style."""

    label: str
    style: int
    dots: tuple[Dot, ...]
    paper: bool = False


@dataclass(frozen=True)
class Level:
    """A horizontal line; `at.x` means nothing."""

    label: str
    style: int
    at: Dot
    paper: bool = False


@dataclass(frozen=True)
class Panel:
    """y_label: where it is not that of the others."""

    title: str
    curves: tuple[Curve, ...]
    levels: tuple[Level, ...]
    y_label: str = ""


@dataclass(frozen=True)
class Plot:
    """Panels below each other on one x axis. x_names: what stands at 0, 1, … where x is no number. title: said, not drawn."""

    x_label: str
    y_label: str
    panels: tuple[Panel, ...]
    x_names: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True)
class Row:
    """One row of the table in one of the drawn columns, as far as a figure reads it. x None: it has none."""

    panel: str
    series: tuple[str, ...]
    arm: str
    x: float | str | None
    cells: Mapping[str, Cell]
    y: Cell


def figure_files(exhibit: "Exhibit") -> dict[str, bytes]:
    """File name -> its bytes: an SVG and a PNG, and such a pair for each x where the block names several."""
    files = {}
    for x, name in figure_names(exhibit).items():
        files |= {f"{name}.{ending}": content for ending, content in draw(plot(exhibit, exhibit.block.figure, x)).items()}
    return files


def figure_names(exhibit: "Exhibit") -> dict[str, str]:
    """x -> what its picture is called, without an ending."""
    figure = exhibit.block.figure
    return {x: exhibit.name if len(figure.x) == 1 else f"{exhibit.name}_{x}" for x in figure.x} if figure else {}


def is_drawn(exhibit: "Exhibit") -> bool:
    """Whether its pictures show anything."""
    figure = exhibit.block.figure
    shown = {*figure.y, *(level.column for level in figure.levels)} if figure else set()
    return any(_known(cell) for cell in exhibit.cells if cell.column in shown)


def plot(exhibit: "Exhibit", figure: FigureBlock, x: str) -> Plot:
    """The figure over one x. Rows without a value, ours or the paper's, leave no trace."""
    rows = list(_rows(exhibit, figure, x))
    flat = {level.arm for level in figure.levels}
    curved = [row for row in rows if row.arm not in flat and row.x is not None and _known(row.y)]
    lines = {panel: tuple(_levels(figure, [row for row in rows if row.panel == panel])) for panel in _panels(rows)}
    names = tuple(dict.fromkeys(str(row.x) for row in curved)) if any(isinstance(row.x, str) for row in curved) else ()
    apart = figure.panels == "column"

    def panel(of: str, levels: tuple[Level, ...]) -> Panel:
        named, curves = figure.labels.get(of, of), tuple(_curves(figure, curved, of, names))
        return Panel("", curves, levels, named) if apart else Panel(named, curves, levels)

    panels = tuple(p for p in (panel(of, its) for of, its in lines.items()) if p.curves or p.levels)
    y_label = figure.labels.get("y", "") if len(figure.y) > 1 else figure.labels.get(figure.y[0], figure.y[0])
    x_names = tuple(figure.labels.get(name, name) for name in names)
    return Plot(figure.labels.get(x, x), y_label, panels, x_names, exhibit.block.title)


def _rows(exhibit: "Exhibit", figure: FigureBlock, x: str) -> Iterator[Row]:
    columns = list(exhibit.block.columns)
    for at, parts in enumerate(exhibit.rows):
        named = dict(zip(exhibit.block.rows, parts, strict=True))
        cells = dict(zip(columns, exhibit.cells[at * len(columns) : (at + 1) * len(columns)], strict=True))
        place = _place(named[x]) if x in named else cells[x].value
        for y in figure.y:
            panel = y if figure.panels == "column" else named.get(figure.panels or "", "")
            apart = len(figure.y) > 1 and figure.panels != "column"
            series = ([named[figure.series]] if figure.series else []) + ([y] if apart or not figure.series else [])
            yield Row(panel, tuple(series), named.get("arm", ""), place, cells, cells[y])


def _place(text: str) -> float | str | None:
    """A row's label as a place on the x axis: a number, or a name; None for a row that has none."""
    try:
        return float(text)
    except ValueError:
        return None if text in (MISSING, "None") else text


def _known(cell: Cell) -> bool:
    return cell.value is not None or cell.paper_value is not None


def _panels(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.panel for row in rows))


def _curves(figure: FigureBlock, rows: Sequence[Row], panel: str, names: Sequence[str]) -> Iterator[Curve]:
    """Ours, then the paper's. A series has one style in every panel."""
    for style, series in enumerate(dict.fromkeys(row.series for row in rows)):
        mine = [row for row in rows if (row.panel, row.series) == (panel, series)]
        at = {id(row): float(names.index(str(row.x)) if names else row.x or 0.0) for row in mine}
        mine.sort(key=lambda row: at[id(row)])
        ours = tuple(_dot(row.y, at[id(row)]) for row in mine if row.y.value is not None)
        theirs = tuple(Dot(at[id(row)], v) for row in mine if (v := row.y.paper_value) is not None)
        label = ", ".join(figure.labels.get(name, name) for name in series)
        if ours:
            yield Curve(label, style, ours)
        if theirs and figure.paper:
            yield Curve(label + PAPER, style, theirs, paper=True)


def _dot(cell: Cell, x: float) -> Dot:
    return Dot(x, cell.value or 0.0, cell.low, cell.high)


def _levels(figure: FigureBlock, rows: Sequence[Row]) -> Iterator[Level]:
    """The last row of the arm that has a value gives the line."""
    for style, level in enumerate(figure.levels):
        cells = [row.cells[level.column] for row in rows if row.arm == level.arm and _known(row.cells[level.column])]
        label = level.label or f"{level.arm}, {level.column}"
        if cells and cells[-1].value is not None:
            yield Level(label, style, _dot(cells[-1], 0.0))
        if cells and cells[-1].paper_value is not None and figure.paper:
            yield Level(label + PAPER, style, Dot(0.0, cells[-1].paper_value), paper=True)
