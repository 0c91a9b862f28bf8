"""Curves as an SVG in a page: where lines, dots and ticks stand. The sheet colours them; pages/_chart.html draws them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 440, 210  # of the drawing, in its own units
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 10, 34  # room for the axes
DOTS = 60  # a line of more points has none


@dataclass(frozen=True)
class Curve:
    """points: x and y, in the order of x."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """path: for a polyline. dots: x, y and what is told of each. series: 1 to 4, its colour."""

    name: str
    series: int
    path: str
    dots: tuple[tuple[float, float, str], ...]


@dataclass(frozen=True)
class Chart:
    """x_ticks, y_ticks: place and text."""

    lines: tuple[Line, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    x_name: str
    y_name: str
    width: int = WIDTH
    height: int = HEIGHT


def chart(curves: Sequence[Curve], x_name: str, y_name: str) -> Chart | None:
    """A chart of the curves that have points; None where none has."""
    shown = [curve for curve in curves if curve.points]
    if not shown:
        return None
    x_ticks, y_ticks = (_ticks([p[i] for curve in shown for p in curve.points], whole=i == 0) for i in (0, 1))

    def place(x: float, y: float) -> tuple[float, float]:
        right = LEFT + (WIDTH - LEFT - RIGHT) * _share(x, x_ticks)
        return round(right, 1), round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * _share(y, y_ticks), 1)

    def line(series: int, curve: Curve) -> Line:
        at = [place(x, y) for x, y in curve.points]
        told = [f"{curve.name}, {x_name} {x:g}: {y:.4g}" for x, y in curve.points]
        dots = tuple((*spot, text) for spot, text in zip(at, told, strict=True)) if len(at) <= DOTS else ()
        return Line(curve.name, series % 4 + 1, " ".join(f"{x},{y}" for x, y in at), dots)

    return Chart(
        tuple(line(i, curve) for i, curve in enumerate(shown)),
        tuple((place(x, y_ticks[0])[0], f"{x:g}") for x in x_ticks),
        tuple((place(x_ticks[0], y)[1], f"{y:g}") for y in y_ticks),
        x_name,
        y_name,
    )


def _share(value: float, ticks: Sequence[float]) -> float:
    return (value - ticks[0]) / (ticks[-1] - ticks[0])


def _ticks(values: Sequence[float], whole: bool) -> list[float]:
    """Round numbers, at least two, that hold all values between the first and the last. whole: no fractions."""
    low, high = min(values), max(values)
    if low == high:
        room = 1 if whole else 0.05
        low, high = low - (room if low < 0 else min(room, low)), high + room
    rough = (high - low) / 5
    unit = 10 ** math.floor(math.log10(rough))
    step = next(unit * k for k in (1, 2, 2.5, 5, 10) if unit * k >= rough)
    step = max(1, round(step)) if whole else step
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * k, 10) for k in range(first, last + 1)]
