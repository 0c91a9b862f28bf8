"""Texts side by side, with what was found in each line beside it: as Markdown and as HTML."""

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from hbench.exhibits.block import DiffBlock

WIDTH = 64  # characters of a line in Markdown; longer ones go on below
AROUND = 3  # unchanged lines shown around a change

Marks = Mapping[str, Sequence[int]]  # what was found -> on which lines, from 1; none: not found


@dataclass(frozen=True)
class Diff:
    """title: what tells it from others. labels: mark -> what readers are told."""

    title: str
    before: str
    after: str
    before_marks: Marks
    after_marks: Marks
    labels: Mapping[str, str]

    def told(self) -> list[str]:
        """One line a mark that either text has: `third search: no -> yes`."""
        names = [name for name in self.labels if self.before_marks.get(name) or self.after_marks.get(name)]
        yes = {True: "yes", False: "no"}
        return [
            f"{self.labels[n]}: {yes[bool(self.before_marks.get(n))]} → {yes[bool(self.after_marks.get(n))]}"
            for n in names
        ]


@dataclass(frozen=True)
class Side:
    """One line of one text. number: from 1. marks: what was found there."""

    number: int
    text: str
    marks: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """One row of a diff. kind: ` ` equal, `~` changed, `-` only before, `+` only after."""

    kind: str
    before: Side | None
    after: Side | None

    def told(self) -> str:
        """The marks of the line as it is after; those that only the line before had are said to be so."""
        now = self.after.marks if self.after else ()
        gone = [f"before: {mark}" for mark in (self.before.marks if self.before else ()) if mark not in now]
        return "; ".join((*now, *gone))


def diffs_of(block: DiffBlock, units: Sequence[Mapping[str, Any]]) -> tuple[Diff, ...]:
    """One diff a row of the SQL that has both texts, and in which they differ. Columns of JSON may be null."""

    def marks(unit: Mapping[str, Any], column: str | None) -> Marks:
        return json.loads(unit[column] or "{}") if column else {}

    made = []
    for unit in units:
        before, after = unit[block.before], unit[block.after]
        if before is not None and after is not None and before != after:
            title = ", ".join(_named(name, unit[name]) for name in block.title)
            found = marks(unit, block.before_marks), marks(unit, block.after_marks)
            labels = {name: block.labels.get(name, name) for name in (*block.labels, *found[0], *found[1])}
            made.append(Diff(title, before, after, *found, labels))
    return tuple(made)


def _named(column: str, value: Any) -> str:
    return f"{column} {value}" if isinstance(value, int | float) else str(value)


def hunks(diff: Diff) -> Iterator[list[Pair]]:
    """The changed places with AROUND unchanged lines before and behind, in order."""
    old, new = (text.rstrip("\n").split("\n") for text in (diff.before, diff.after))  # the lines that Python counts
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND):
        yield [pair for opcode in group for pair in _pairs(diff, (old, new), opcode)]


def _pairs(diff: Diff, texts: tuple[list[str], list[str]], opcode: tuple[str, int, int, int, int]) -> Iterator[Pair]:
    tag, i, i_end, j, j_end = opcode
    left = [Side(n + 1, texts[0][n], _at(diff.before_marks, diff, n + 1)) for n in range(i, i_end)]
    right = [Side(n + 1, texts[1][n], _at(diff.after_marks, diff, n + 1)) for n in range(j, j_end)]
    for before, after in zip_longest(left, right):
        changed = "~" if before and after else "-" if before else "+"
        yield Pair(" " if tag == "equal" else changed, before, after)


def _at(marks: Marks, diff: Diff, line: int) -> tuple[str, ...]:
    return tuple(diff.labels[name] for name, lines in marks.items() if line in lines)


def diff_markdown(title: str, diffs: Sequence[Diff]) -> str:
    """Every diff under a heading of its own: its marks, then a block of text in three columns."""
    parts = [f"# {title}: diffs\n"]
    for diff in diffs:
        body = "\n".join(_text_hunk(hunk) for hunk in hunks(diff))
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", body)), default=0))
        told = "".join(f"- {line}\n" for line in diff.told())
        parts.append(f"## {_one_line(diff.title)}\n\n{told}{told and chr(10)}{fence}text\n{body}\n{fence}\n")
    return "\n".join(parts)


def _text_hunk(pairs: Sequence[Pair]) -> str:
    return "\n".join(line for pair in pairs for line in _text_lines(pair)) + "\n" + "·" * 8


def _text_lines(pair: Pair) -> Iterator[str]:
    """One line of text a row, more where a side is longer than WIDTH."""
    left, right = _wrapped(pair.before), _wrapped(pair.after)
    marks = pair.told()
    for k, (one, two) in enumerate(zip_longest(left, right, fillvalue="")):
        beside = f"  ◂ {marks}" if marks and k == 0 else ""
        yield f"{one:<{WIDTH + 5}} {pair.kind} {two:<{WIDTH + 5}}{beside}".rstrip()


def _wrapped(side: Side | None) -> list[str]:
    if side is None:
        return [""]
    text = side.text.expandtabs(4)
    pieces = [text[at : at + WIDTH] for at in range(0, len(text), WIDTH)] or [""]
    return [f"{side.number:>4} {pieces[0]}", *(f"{'':>4} {piece}" for piece in pieces[1:])]


def _one_line(text: str) -> str:
    return " ".join(text.split())


STYLE = """
body { font: 14px/1.4 sans-serif; margin: 2em; color: #222; background: #fff; }
table { border-collapse: collapse; font: 12px/1.35 monospace; width: 100%; table-layout: fixed; }
td { vertical-align: top; padding: 0 .5em; white-space: pre-wrap; overflow-wrap: anywhere; }
.n { width: 3em; color: #777; text-align: right; } .m { width: 14em; font-family: sans-serif; color: #0072b2; }
.old { background: #fbe3d6; } .new { background: #d9ecf7; } .gap td { border-top: 1px dashed #aaa; }
"""


def diff_html(title: str, diffs: Sequence[Diff]) -> str:
    """One page that needs nothing else. Every text is escaped: harnesses and their prompts are not trusted."""
    named = html.escape(title)
    head = f'<meta charset="utf-8"><title>{named}</title><style>{STYLE}</style>'
    body = "\n".join(_html_diff(diff) for diff in diffs)
    page = f'<html lang="en"><head>{head}</head>\n<body><h1>{named}</h1>\n{body}\n</body></html>'
    return f"<!doctype html>\n{page}\n"


def _html_diff(diff: Diff) -> str:
    told = "".join(f"<li>{html.escape(line)}</li>" for line in diff.told())
    rows = "\n".join(_html_row(pair, at == 0) for hunk in hunks(diff) for at, pair in enumerate(hunk))
    return f"<h2>{html.escape(diff.title)}</h2>\n<ul>{told}</ul>\n<table>\n{rows}\n</table>"


def _html_row(pair: Pair, first: bool) -> str:
    changed = pair.kind != " "
    cells = _html_side(pair.before, "old" if changed else "") + _html_side(pair.after, "new" if changed else "")
    marks = html.escape(pair.told())
    return f'<tr{" class=gap" if first else ""}>{cells}<td class="m">{marks}</td></tr>'


def _html_side(side: Side | None, style: str) -> str:
    if side is None:
        return '<td class="n"></td><td></td>'
    return f'<td class="n">{side.number}</td><td class="{style}">{html.escape(side.text)}</td>'
