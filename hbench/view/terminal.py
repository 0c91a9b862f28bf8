"""A terminal to print on: titles, facts, texts and tables, with nothing in them that a terminal would obey."""

from collections.abc import Iterable, Sequence
from typing import Any

from hbench.view.opening import opening
from hbench.view.visible import visible

LINES, CHARS = 40, 4_000  # of a text, unless all of it is asked for
INDENT = "  "
PLAIN_WIDTH = 160  # of tables that go into a file or a pipe
Cell = Any  # text, a number, None for nothing, or (text, style)


class Terminal:
    """whole: texts are not cut. Colours only where the output is a terminal that shows them."""

    def __init__(self, whole: bool = False, console: Any = None):
        from rich.console import Console

        self.whole = whole
        self._console = console or Console(highlight=False, markup=False, emoji=False)
        if console is None and not self._console.is_terminal:
            self._console.width = PLAIN_WIDTH

    def line(self, *parts: Cell) -> None:
        """One line, its parts with a blank between."""
        self._print(_joined(parts))

    def title(self, *parts: Cell) -> None:
        """Opens a section."""
        self._console.print()
        self._print(_joined(parts), "bold")

    def facts(self, pairs: Iterable[tuple[str, Cell]]) -> None:
        """`name value` for each that is not None, on as few lines as fit."""
        parts = [part for name, value in pairs if value is not None for part in ((name, "dim"), value, "  ")]
        self._console.print(_joined(parts))

    def text(self, text: str | None, style: str = "", absent: str = "(not here: the bundle was exported without it)") -> None:
        """A text, indented; a long one is cut, and says how much is left."""
        if text is None:
            self._print(_joined([(INDENT + absent, "dim")]))
            return
        shown = opening(text, *((len(text) + 1,) * 2 if self.whole else (LINES, CHARS)))
        self.pieces([(shown.head, style)])
        if shown.left:
            self._print(_joined([(f"{INDENT}… {shown.left} (--full shows them)", "dim")]))

    def pieces(self, pieces: Iterable[tuple[str, str]]) -> None:
        """A text in stretches, each with its style, indented."""
        from rich.text import Text

        lines = [Text(INDENT)]
        for text, style in pieces:
            for place, part in enumerate(visible(text).split("\n")):
                if place:
                    lines.append(Text(INDENT))
                lines[-1].append(part, style)
        while len(lines) > 1 and not lines[-1].plain.strip():
            lines.pop()
        for line in lines:
            self._print(line)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        """Columns side by side; one whose name begins with `#` holds numbers. The last one takes the room that is left."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        made = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
        for place, name in enumerate(columns):
            last = place == len(columns) - 1
            made.add_column(
                name.lstrip("#"), justify="right" if name.startswith("#") else "left", no_wrap=not last, overflow="fold"
            )
        for row in rows:
            made.add_row(*(_cell(value) for value in row))
        self._console.print(made)

    def _print(self, text: Any, style: str = "") -> None:
        self._console.print(text, style=style, soft_wrap=True)


def _joined(parts: Iterable[Cell]) -> Any:
    from rich.text import Text

    made = Text()
    for part in filter(lambda cell: cell.plain, map(_cell, parts)):
        if made.plain and not made.plain.endswith(" "):
            made.append(" ")
        made.append_text(part)
    return made


def _cell(value: Cell) -> Any:
    """Text of one line or several; numbers as scores are written."""
    from rich.text import Text

    text, style = value if isinstance(value, tuple) else (value, "")
    if text is None:
        return Text("–", "dim")
    return Text(f"{text:.3f}" if isinstance(text, float) else visible(text), style)


def change(score: float | None, before: float | None) -> Cell:
    """How much a score is above another one, coloured; empty where one of them is not there."""
    if score is None or before is None:
        return ""
    gain = score - before
    return f"{gain:+.3f}", "green" if gain > 0 else "red" if gain < 0 else "dim"


def outcome(word: str | None) -> Cell:
    """Of a candidate, coloured."""
    return word or "–", {"applied": "green", "no_change": "dim"}.get(word or "", "red")


def one_line(text: str | None, most: int = 100) -> str:
    """The beginning of a text on one line."""
    short = " ".join((text or "").split())
    return short if len(short) <= most else short[: most - 1] + "…"
