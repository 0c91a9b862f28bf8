"""Two harnesses side by side, file by file: the changed places, and in a changed line the changed words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

from hbench.exhibits.diff import Diff, Pair, Side, hunks

MOST_LINES = 20_000  # of both files: more takes too long to compare
MOST_CHARS = 400  # of a line whose words are compared
Sort = Literal[" ", "-", "+"]


@dataclass(frozen=True)
class Line:
    """sort: ` ` in both, `-` only before, `+` only after. old, new: its number from 1. pieces: text, and whether it changed."""

    sort: Sort
    old: int | None
    new: int | None
    pieces: tuple[tuple[str, bool], ...]

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.pieces)


@dataclass(frozen=True)
class FileDiff:
    """hunks: the changed places with some lines around. before, after: whole texts; None where there is no such file."""

    path: str
    before: str | None
    after: str | None
    hunks: tuple[tuple[Line, ...], ...]

    @property
    def fate(self) -> Literal["added", "removed", "changed"]:
        return "added" if self.before is None else "removed" if self.after is None else "changed"

    def count(self, sort: Sort) -> int:
        """How many lines of that sort."""
        return sum(line.sort == sort for hunk in self.hunks for line in hunk)


def file_diffs(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FileDiff, ...]:
    """One for each path whose text differs, sorted by path."""
    differing = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    return tuple(_of_file(path, before.get(path), after.get(path)) for path in differing)


def _of_file(path: str, before: str | None, after: str | None) -> FileDiff:
    if before is None or after is None:
        sort, text = ("+", after) if before is None else ("-", before)
        return FileDiff(path, before, after, (_whole(sort, text or ""),))
    if before.count("\n") + after.count("\n") > MOST_LINES:
        return FileDiff(path, before, after, (_whole("-", before), _whole("+", after)))
    made = tuple(tuple(_lines(hunk)) for hunk in hunks(Diff(path, before, after, {}, {}, {})))
    return FileDiff(path, before, after, made)


def _whole(sort: Sort, text: str) -> tuple[Line, ...]:
    lines = text.rstrip("\n").split("\n") if text else []
    numbers = ((n, None) if sort == "-" else (None, n) for n in range(1, len(lines) + 1))
    return tuple(Line(sort, *number, ((line, False),)) for number, line in zip(numbers, lines))


def _lines(pairs: Sequence[Pair]) -> Iterator[Line]:
    """Of changed lines that follow each other, first all that went and then all that came."""
    for same, some in groupby(pairs, key=lambda pair: pair.kind == " "):
        changed = list(some)
        if same:
            yield from (Line(" ", p.before.number, p.after.number, ((p.after.text, False),)) for p in changed)
            continue
        words = [_words(p.before, p.after) for p in changed]
        yield from (Line("-", p.before.number, None, old) for p, (old, _) in zip(changed, words) if p.before)
        yield from (Line("+", None, p.after.number, new) for p, (_, new) in zip(changed, words) if p.after)


def _words(before: Side | None, after: Side | None) -> tuple[tuple[tuple[str, bool], ...], tuple[tuple[str, bool], ...]]:
    """Both lines in pieces, what differs marked; not where little is the same, or the lines are long."""
    old, new = (side.text if side else "" for side in (before, after))
    plain = ((old, False),), ((new, False),)
    if not (old.strip() and new.strip()) or max(len(old), len(new)) > MOST_CHARS:
        return plain
    one, other = (re.findall(r"\w+|\s+|.", text) for text in (old, new))
    matched = SequenceMatcher(None, one, other, autojunk=False)
    if matched.ratio() < 0.5:
        return plain
    codes = matched.get_opcodes()
    left = tuple(("".join(one[i:i_end]), tag != "equal") for tag, i, i_end, _, _ in codes if i_end > i)
    right = tuple(("".join(other[j:j_end]), tag != "equal") for tag, _, _, j, j_end in codes if j_end > j)
    return left, right
