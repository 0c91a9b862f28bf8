"""Drawing with matplotlib: the same plot gives the same bytes.

Colours are Okabe and Ito's, which stay apart for the colour-blind; markers and dashes differ too, so that curves stay
apart in grey. The size is one column of a two-column page, with letters of 7 to 8 points.
"""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hbench.exhibits.figure import Curve, Level, Panel, Plot

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
MARKERS = ("o", "s", "^", "D", "v", "P")
LEVEL_COLOURS = ("#000000", "#6e6e6e", "#009e73", "#cc79a7", "#e69f00")
DASHES = ((0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1, 2)), (0, (1, 1)), (0, (8, 1)))
WIDTH_IN, PANEL_IN, LEGEND_LINE_IN = 3.4, 2.1, 0.17
LETTERS = 40  # of names that stand abreast below an axis; more are written slanted
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
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "hbench",  # else the ids in the file are random
}


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
        canvas.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        canvas.savefig(png, format="png", dpi=200, metadata={"Software": None})
    return {"svg": svg.getvalue(), "png": png.getvalue()}


def _fill(canvas: Any, plot: "Plot") -> None:
    """The panels, and one legend for all of them underneath."""
    panels = len(plot.panels) or 1
    axes = canvas.subplots(panels, 1, sharex=True, squeeze=False)[:, 0]
    handles: dict[str, Any] = {}
    for axis, panel in zip(axes, plot.panels, strict=False):
        handles |= _panel(axis, panel, joined=not plot.x_names)
    for axis in axes:
        axis.set_ylabel(plot.y_label)
        _ticks(axis, plot)
    if not plot.panels:
        axes[0].text(0.5, 0.5, "nothing measured yet", ha="center", va="center", transform=axes[0].transAxes)
    axes[-1].set_xlabel(plot.x_label)
    abreast = 2 if max(map(len, handles), default=0) <= 24 else 1
    lines = -(-len(handles) // abreast)
    canvas.set_size_inches(WIDTH_IN, PANEL_IN * panels + LEGEND_LINE_IN * lines + 0.2)
    if handles:
        canvas.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=abreast, frameon=False)


def _ticks(axis: Any, plot: "Plot") -> None:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    if plot.x_names:
        slanted = sum(map(len, plot.x_names)) > LETTERS
        axis.set_xticks(range(len(plot.x_names)), plot.x_names, **({"rotation": 35, "ha": "right"} if slanted else {}))
        axis.set_xlim(-0.5, len(plot.x_names) - 0.5)
        return
    places = [dot.x for panel in plot.panels for curve in panel.curves for dot in curve.dots]
    axis.xaxis.set_major_locator(MaxNLocator(6, integer=all(x == int(x) for x in places)))
    if max(places, default=0.0) >= 10_000:
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))  # 1.2M


def _panel(axis: Any, panel: "Panel", joined: bool) -> dict[str, Any]:
    """Draws it; label -> what the legend shows for it. joined: curves have lines; over names dots stand alone."""
    if panel.title:
        axis.set_title(panel.title)
    drawn = {level.label: _level(axis, level) for level in panel.levels}
    return drawn | {curve.label: _curve(axis, curve, joined) for curve in panel.curves}


def _curve(axis: Any, curve: "Curve", joined: bool) -> Any:
    """A line through its dots; the interval as a band, or as a bar where a dot stands alone."""
    colour, marker = COLOURS[curve.style % len(COLOURS)], MARKERS[curve.style % len(MARKERS)]
    xs, ys = [dot.x for dot in curve.dots], [dot.value for dot in curve.dots]
    if curve.paper:
        look = {"linestyle": (0, (2, 1.5)) if joined else "none", "linewidth": 0.9, "markerfacecolor": "white", "alpha": 0.8}
        return axis.plot(xs, ys, color=colour, marker=marker, **look)[0]
    known = [dot for dot in curve.dots if dot.low is not None and dot.high is not None]
    if len(known) > 1 and joined:
        band = [[getattr(dot, end) for dot in known] for end in ("low", "high")]
        axis.fill_between([dot.x for dot in known], *band, color=colour, alpha=0.16, linewidth=0)
    for dot in known:
        axis.plot([dot.x, dot.x], [dot.low, dot.high], color=colour, linewidth=0.8, alpha=0.7, marker="_", markersize=4)
    return axis.plot(xs, ys, color=colour, marker=marker, linestyle="-" if joined else "none")[0]


def _level(axis: Any, level: "Level") -> Any:
    at, place = level.at, level.style % len(LEVEL_COLOURS)
    colour = LEVEL_COLOURS[place]
    if at.low is not None and at.high is not None:
        axis.axhspan(at.low, at.high, color=colour, alpha=0.08, linewidth=0)
    thin = {"linewidth": 0.7, "alpha": 0.7} if level.paper else {"linewidth": 1.1}
    return axis.axhline(at.value, color=colour, linestyle=DASHES[place], **thin)
