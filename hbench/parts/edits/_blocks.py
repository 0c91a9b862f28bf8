"""Reads SEARCH/REPLACE blocks out of a response, line by line."""

import re
from dataclasses import dataclass

from hbench.core.failure import EditFailure

_MARKS = {"open": "<<<<<<< SEARCH", "divide": "=======", "close": ">>>>>>> REPLACE"}
_ALMOST = re.compile(r"\s*(<{4,}\s*(SEARCH)?|={5,}|>{4,}\s*(REPLACE)?)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Block:
    """number: from 1, in the order written. Lines without their \\n; a \\r before it is kept in `search`."""

    number: int
    search: tuple[str, ...]
    replace: tuple[str, ...]


def read_blocks(text: str) -> tuple[tuple[Block, ...], str]:
    """Every block of `text`, and the text outside them. Raises EditFailure("parse", …), also when there is no block."""
    blocks: list[Block] = []
    outside: list[str] = []
    state, search, replace = "outside", [], []
    for number, line in enumerate(text.split("\n"), 1):
        mark = _mark(line)
        if state == "outside" and mark not in ("open", "close"):
            outside.append(line)  # a row of = under a heading is prose here
        elif (state, mark) == ("outside", "open"):
            state, search, replace = "search", [], []
        elif (state, mark) == ("search", "divide"):
            state = "replace"
        elif (state, mark) == ("replace", "close"):
            blocks.append(_block(len(blocks) + 1, search, replace))
            state = "outside"
        elif mark:
            raise EditFailure("parse", "malformed_block", _misplaced(state, mark, len(blocks) + 1, number))
        else:
            (search if state == "search" else replace).append(line)
    if state != "outside":
        wanted = _MARKS["divide" if state == "search" else "close"]
        message = f"block {len(blocks) + 1} has no line {wanted!r} before the response ends{_hint(search + replace)}"
        raise EditFailure("parse", "unterminated_block", message)
    if not blocks:
        message = f"the response has no line {_MARKS['open']!r}{_hint(outside)}"
        raise EditFailure("parse", "no_edit_blocks", message)
    return tuple(blocks), "\n".join(outside).replace("\r", "").strip()


def _mark(line: str) -> str | None:
    bare = line.rstrip(" \t\r")
    return next((name for name, mark in _MARKS.items() if bare == mark), None)


def _block(number: int, search: list[str], replace: list[str]) -> Block:
    if not search:
        message = f"block {number} has no SEARCH lines; name the lines to be replaced"
        raise EditFailure("parse", "empty_search", message)
    return Block(number, tuple(search), tuple(replace))


def _misplaced(state: str, mark: str, block: int, line: int) -> str:
    where = f"line {line} of the response: {_MARKS[mark]!r}"
    if state == "outside":
        return f"block {block}: {where} closes no block"
    if mark == "open":
        return f"block {block}: {where} opens another block before this one is closed"
    if mark == "divide":
        return f"block {block}: {where} is a second divider; a program line of seven = cannot be written in a block"
    return f"block {block}: {where} comes before the divider {_MARKS['divide']!r}"


def _hint(lines: list[str]) -> str:
    """Names a line that was perhaps meant as a mark."""
    near = next((line for line in lines if _ALMOST.fullmatch(line[:200])), None)
    if near is None:
        return ""
    return f" (is {near.strip()[:40]!r} meant as one? marks start in column 0 and have exactly seven signs)"
