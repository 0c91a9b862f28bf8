"""A comparison as text: for a terminal, as Markdown, CSV or JSON. Numbers come from it; none is computed here."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from hbench.exhibits.compare import Comparison, Flip
from hbench.exhibits.comparison_notes import counted
from hbench.exhibits.differences import Difference
from hbench.exhibits.render import printable

HEAD = ("", "over", "A", "B", "A - B", "p", "p (Holm)")
FLIPPED = ("for", "family", "question", "A", "B", "it begins")
BEGINS = 60  # characters of a question
NONE = "–"


def as_table(made: Comparison, most: int = 10) -> str:
    """For a terminal. most: flipped questions that are shown."""
    width = max(len(made.a), len(made.b))
    sides = [f"{side}  {name.ljust(width)}  {of}" for side, name, of in zip("AB", (made.a, made.b), made.of, strict=True)]
    blocks = [[*map(printable, sides)], _columns(_grid(made), len(HEAD)), [_flip_line(made)]]
    if shown := made.flips[:most]:
        blocks.append(_columns([FLIPPED, *map(_flip_row, shown)], 3))
    blocks += [[f"{told}:", *(f"  {printable(line)}" for line in lines)] for told, lines in _told(made) if lines]
    return "\n\n".join("\n".join(block) for block in blocks)


def as_markdown(made: Comparison, most: int = 10) -> str:
    """The same with pipe tables. Ends without a line feed."""
    sides = [f"- **{side}**: {_cell(name)}, {_cell(of)}" for side, name, of in zip("AB", (made.a, made.b), made.of, strict=True)]
    parts = ["\n".join(sides), _pipes(_grid(made), 1), _cell(_flip_line(made))]
    if shown := made.flips[:most]:
        rows = [_flip_row(flip) for flip in shown]
        parts.append(_pipes([FLIPPED, *([*row, _quoted(text)] for *row, text in rows)], 3))
    parts += [f"{told}:\n\n" + "\n".join(f"- {_cell(line)}" for line in lines) for told, lines in _told(made) if lines]
    return "\n\n".join(parts)


def as_csv(made: Comparison, most: int = 0) -> str:
    """One line the whole, one a family, one a flipped question: all of them, at full precision."""
    head = ("part", "family", "question", "unit", "n", "a", "b", "difference", "low", "high", "p", "holm")
    out = io.StringIO()
    writer = csv.DictWriter(out, head, lineterminator="\n")
    writer.writeheader()
    for part, line in [("all", made.whole), *(("family", line) for line in made.families)]:
        numbers = {"a": line.ours, "b": line.theirs, "p": line.p, "holm": line.holm, "unit": line.unit}
        its = line.difference
        interval = {"n": its.n, "difference": its.value, "low": its.low, "high": its.high}
        writer.writerow({"part": part, "family": line.name if part == "family" else "", **numbers, **interval})
    for flip in made.flips:
        scores = {"a": flip.ours, "b": flip.theirs, "difference": flip.ours - flip.theirs}
        writer.writerow({"part": "flipped", "family": flip.family, "question": flip.question_id, **scores})
    return out.getvalue().rstrip("\n")


def as_json(made: Comparison, most: int = 0) -> str:
    """All of it, with every flipped question."""
    return json.dumps(asdict(made), ensure_ascii=False, indent=1)


FORMS: dict[str, Callable[[Comparison, int], str]] = {
    "table": as_table,
    "markdown": as_markdown,
    "csv": as_csv,
    "json": as_json,
}


def _told(made: Comparison) -> Sequence[tuple[str, tuple[str, ...]]]:
    return ("left out", made.left_out), ("how", made.notes)


def _grid(made: Comparison) -> list[Sequence[str]]:
    return [HEAD if made.families else HEAD[:-1], *(_row(line, bool(made.families)) for line in (made.whole, *made.families))]


def _row(line: Difference, corrected: bool) -> list[str]:
    its = line.difference
    apart = f"{its.value:+.3f}" + (f" [{its.low:+.3f}, {its.high:+.3f}]" if its.low is not None else "")
    row = [line.name, counted(its.n, line.unit), f"{line.ours:.3f}", f"{line.theirs:.3f}", apart, _p(line.p)]
    return [*row, _p(line.holm) if line.name != "all" else ""] if corrected else row


def _p(value: float | None) -> str:
    return NONE if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _flip_line(made: Comparison) -> str:
    better = sum(flip.ours > flip.theirs for flip in made.flips)
    told = f"{len(made.flips)} of {made.questions} questions flipped (right is at least one half)"
    return told + (f": {better} for A, {len(made.flips) - better} for B" if made.flips else "")


def _flip_row(flip: Flip) -> list[str]:
    begins = " ".join(printable(flip.text).split())
    begins = begins if len(begins) <= BEGINS else begins[: BEGINS - 1] + "…"
    better = "A" if flip.ours > flip.theirs else "B"
    return [better, flip.family, flip.question_id, f"{flip.ours:.2f}", f"{flip.theirs:.2f}", begins]


def _columns(grid: Sequence[Sequence[str]], left: int) -> list[str]:
    return list(_aligned([[printable(text) for text in row] for row in grid], left))


def _aligned(grid: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    widths = [max(len(row[i]) for row in grid) for i in range(len(grid[0]))]
    for row in grid:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _pipes(grid: Sequence[Sequence[str]], left: int) -> str:
    rule = ["---" if i < left else "---:" for i in range(len(grid[0]))]
    rows: list[Sequence[Any]] = [grid[0], rule, *grid[1:]]
    return "\n".join("| " + " | ".join(map(_cell, row)) + " |" for row in rows)


def _quoted(text: str) -> str:
    """Without links, pictures and other marks of a question's own."""
    return "".join(f"\\{c}" if c in "\\`*_[]!~" else c for c in text)


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|").replace("<", "&lt;")
