"""Drawing with matplotlib: the same plot gives the same bytes.

Colours are Okabe and Ito's, which stay apart for the colour-blind; markers and dashes differ too, so that curves stay
apart in grey. The size is one column of a two-column page, with letters of 7 to 8 points, drawn as the shapes of the font
that comes with matplotlib: a picture looks the same wherever it is opened.
"""

import io
from collections.abc import Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hbench.exhibits.figure import Curve, Level, Panel, Plot

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
MARKERS = ("o", "s", "^", "D", "v", "P")
LEVEL_COLOURS = ("#000000", "#6e6e6e", "#009e73", "#cc79a7", "#e69f00")
DASHES = ((0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1, 2)), (0, (1, 1)), (0, (8, 1)))
WIDTH_IN, LEGEND_LINE_IN = 3.4, 0.17
PANEL_IN = {1: 2.1, 2: 1.9, 3: 1.6}  # the height of each, by how many there are
LOW_PANEL_IN = 1.25  # of more
LETTERS = 40  # of names that stand abreast below an axis; more are written slanted
BAR: Mapping[str, Any] = {"linewidth": 0.8, "alpha": 0.7, "marker": "_", "markersize": 4}  # an interval
PAPER = ", paper"  # behind the name of what is the paper's
MARKED = 12  # dots of a curve that all have a marker; of longer curves about so many do
APART = 0.5  # the width within which the series of one name stand side by side
STYLE: Mapping[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 8,
    "legend.fontsize": 7,
    "axes.titlesize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "hbench",  # else the ids in the file are random
}


def load() -> None:
    """Loads matplotlib, which takes a second, so that the first figure need not."""
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_svg
    import matplotlib.figure
    import matplotlib.style  # noqa: F401


def draw(plot: "Plot") -> dict[str, bytes]:
    """File ending -> bytes: svg and png, without dates."""
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    svg, png = io.BytesIO(), io.BytesIO()
    with matplotlib.style.context(["default", dict(STYLE)]):  # a user's matplotlibrc changes nothing
        canvas = Figure(layout="constrained")
        FigureCanvasAgg(canvas)
        _fill(canvas, plot)
        canvas.get_layout_engine().execute(canvas)
        canvas.set_layout_engine(None)  # everything has its place now; else each file would look for it anew
        canvas.savefig(svg, format="svg", metadata={"Date": None, "Creator": None, "Title": plot.title or None})
        canvas.savefig(png, format="png", dpi=200, metadata={"Software": None})
    return {"svg": svg.getvalue(), "png": png.getvalue()}


def _fill(canvas: Any, plot: "Plot") -> None:
    """The panels, and one legend for all of them underneath."""
    panels = len(plot.panels) or 1
    axes = canvas.subplots(panels, 1, sharex=True, squeeze=False)[:, 0]
    handles: dict[str, Any] = {}
    for axis, panel in zip(axes, plot.panels, strict=False):
        handles |= _panel(axis, panel, _offsets(plot) if plot.x_names else None)
    handles = {} if list(handles) == [plot.y_label] else _without_twins(handles)  # the axis says it
    for axis, panel in zip_longest(axes, plot.panels):
        axis.set_ylabel((panel and panel.y_label) or plot.y_label)
        _ticks(axis, plot)
    if not plot.panels:
        axes[0].text(0.5, 0.5, "nothing measured yet", ha="center", va="center", transform=axes[0].transAxes)
    axes[-1].set_xlabel(plot.x_label)
    abreast = 2 if max(map(len, handles), default=0) <= 24 else 1
    lines = -(-len(handles) // abreast)
    height = PANEL_IN.get(panels, LOW_PANEL_IN) * panels
    canvas.set_size_inches(WIDTH_IN, height + LEGEND_LINE_IN * lines + (0.6 if _slanted(plot) else 0.3))
    if handles:
        canvas.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=abreast, frameon=False)


def _ticks(axis: Any, plot: "Plot") -> None:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    if plot.x_names:
        look = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if _slanted(plot) else {}
        axis.set_xticks(range(len(plot.x_names)), plot.x_names, **look)
        axis.set_xlim(-0.5, len(plot.x_names) - 0.5)
        return
    places = [dot.x for panel in plot.panels for curve in panel.curves for dot in curve.dots]
    axis.xaxis.set_major_locator(MaxNLocator(6, integer=all(x == int(x) for x in places)))
    if max(places, default=0.0) >= 10_000:
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))  # 1.2M


def _without_twins(handles: dict[str, Any]) -> dict[str, Any]:
    """The same without the paper's where ours of that name are there: one entry says how those are drawn."""
    from matplotlib.lines import Line2D

    twins = {label for label in handles if label.endswith(PAPER) and label.removesuffix(PAPER) in handles}
    kept = {label: handle for label, handle in handles.items() if label not in twins}
    grey = {"color": "#6e6e6e", "linestyle": DASHES[1], "linewidth": 0.9, "marker": "o", "markerfacecolor": "white"}
    return kept | ({"the paper's: hollow, thin": Line2D([], [], **grey)} if twins else {})


def _slanted(plot: "Plot") -> bool:
    return sum(map(len, plot.x_names)) > LETTERS


def _offsets(plot: "Plot") -> dict[int, float]:
    """Style -> how far from a name's place its dots stand, so that no interval hides another."""
    styles = sorted({curve.style for panel in plot.panels for curve in panel.curves})
    step = APART / max(len(styles), 1)
    return {style: (at - (len(styles) - 1) / 2) * step for at, style in enumerate(styles)}


def _panel(axis: Any, panel: "Panel", offsets: Mapping[int, float] | None) -> dict[str, Any]:
    """Draws it; label -> what the legend shows for it. offsets: over names, where dots stand alone; None: curves have lines."""
    if panel.title:
        axis.set_title(panel.title)
    drawn = {level.label: _level(axis, level) for level in panel.levels}
    return drawn | {curve.label: _curve(axis, curve, offsets) for curve in panel.curves}


def _curve(axis: Any, curve: "Curve", offsets: Mapping[int, float] | None) -> Any:
    """A line through its dots with its interval as a band; bars where dots stand alone."""
    colour, joined = COLOURS[curve.style % len(COLOURS)], offsets is None
    aside = 0.0 if offsets is None else offsets[curve.style]
    xs, ys = [dot.x + aside for dot in curve.dots], [dot.value for dot in curve.dots]
    every = -(-len(xs) // MARKED)  # those of other curves stand between
    look: dict[str, Any] = {"color": colour, "marker": MARKERS[curve.style % len(MARKERS)]}
    look["markevery"] = (curve.style % every, every)
    if curve.paper:
        look |= {"linestyle": (0, (2, 1.5)) if joined else "none", "linewidth": 0.9, "markerfacecolor": "white", "alpha": 0.8}
        return axis.plot(xs, ys, **look)[0]
    known = [(x, dot) for x, dot in zip(xs, curve.dots, strict=True) if dot.low is not None and dot.high is not None]
    if len(known) > 1 and joined:
        ends = [[getattr(dot, end) for _, dot in known] for end in ("low", "high")]
        axis.fill_between([x for x, _ in known], *ends, facecolor=colour, alpha=0.13, linewidth=0)
        for end in ends:
            axis.plot([x for x, _ in known], end, color=colour, linewidth=0.5, alpha=0.6)
    else:
        for x, dot in known:
            axis.plot([x, x], [dot.low, dot.high], color=colour, **BAR)
    return axis.plot(xs, ys, linestyle="-" if joined else "none", **look)[0]


def _level(axis: Any, level: "Level") -> Any:
    """A line across; its interval as a bar beside the panel, where it hides no curve."""
    at, place = level.at, level.style % len(LEVEL_COLOURS)
    colour = LEVEL_COLOURS[place]
    if at.low is not None and at.high is not None:
        aside = 1.02 + 0.025 * place
        axis.plot([aside] * 2, [at.low, at.high], color=colour, transform=axis.get_yaxis_transform(), clip_on=False, **BAR)
    thin = {"linewidth": 0.7, "alpha": 0.7} if level.paper else {"linewidth": 1.1}
    return axis.axhline(at.value, color=colour, linestyle=DASHES[place], **thin)
