"""Reads changes of several files out of a response: each under a line FILE, with what it rests on."""

import re
from dataclasses import dataclass, field
from typing import Literal

from hbench.core.failure import EditFailure
from hbench.parts.edits._blocks import Block, read_blocks
from hbench.parts.edits._fences import read_fences

OPEN, CLOSE = "<<<<<<< WRITE", ">>>>>>> WRITE"
_HEADS = {"<<<<<<< SEARCH": ">>>>>>> REPLACE", OPEN: CLOSE}
_FILE = re.compile(r"\**FILE:\**\s*`?([^\s`]+)`?\s*", re.IGNORECASE)
_SAID = re.compile(r"\**(cites|why)\**:\**\s*(.*?)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one file. text: of `write`. blocks: of `edit`. cites: ids of questions, as they were written."""

    path: str
    action: Literal["write", "edit", "delete"]
    text: str = ""
    blocks: tuple[Block, ...] = ()
    cites: tuple[str, ...] = ()
    why: str = ""


@dataclass
class _Section:
    """The lines under one FILE line."""

    path: str
    line: int
    said: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)  # marks and what stands between them, one after another
    outside: list[str] = field(default_factory=list)


def read_changes(response: str) -> tuple[tuple[Change, ...], str]:
    """Every change, and the text before the first. Raises EditFailure("parse", …): no_edit_blocks, malformed_block,
    unterminated_block or empty_search.
    """
    sections, before = _sections(response.replace("\r\n", "\n").split("\n"))
    if not sections:
        raise EditFailure("parse", "no_edit_blocks", "the response has no line FILE: PATH")
    paths = [section.path for section in sections]
    if twice := sorted({path for path in paths if paths.count(path) > 1}):
        raise EditFailure("parse", "malformed_block", f"{twice[0]} has two FILE lines; write all its changes under one")
    return tuple(_change(section) for section in sections), "\n".join(before).strip()


def read_file(response: str, path: str) -> str:
    """The text of the one file that the response writes: its last WRITE block, else for a program its one fenced block, else
    all of it. Raises EditFailure("parse", …): unterminated_block, no_code_block or multiple_code_blocks.
    """
    lines = response.replace("\r\n", "\n").split("\n")
    bare = [line.rstrip(" \t") for line in lines]
    if OPEN in bare:
        start = len(bare) - bare[::-1].index(OPEN)
        if CLOSE not in bare[start:]:
            raise EditFailure("parse", "unterminated_block", f"no line {CLOSE!r} before the response ends")
        return _unfenced(path, lines[start : bare.index(CLOSE, start)])
    if not path.endswith(".py"):
        return response.strip() + "\n"
    fences = [fence for fence in read_fences(lines) if fence.is_python]
    if len(fences) != 1:
        kind = "multiple_code_blocks" if fences else "no_code_block"
        raise EditFailure("parse", kind, f"{len(fences)} Python blocks; write the file between {OPEN!r} and {CLOSE!r}")
    return "\n".join(fences[0].body) + "\n"


def _sections(lines: list[str]) -> tuple[list[_Section], list[str]]:
    found: list[_Section] = []
    before: list[str] = []
    closing = None
    for number, line in enumerate(lines, 1):
        bare = line.rstrip(" \t")
        if closing:
            found[-1].lines.append(line)
            closing = None if bare == closing else closing
        elif found and bare in _HEADS:
            found[-1].lines.append(bare)
            closing = _HEADS[bare]
        elif head := _FILE.fullmatch(line):
            found.append(_Section(head[1], number))
        elif found and (said := _SAID.fullmatch(line)):
            found[-1].said[said[1].lower()] = said[2]
        else:
            (found[-1].outside if found else before).append(line)
    if closing:
        raise EditFailure("parse", "unterminated_block", f"{found[-1].path}: no line {closing!r} before the response ends")
    return found, before


def _change(section: _Section) -> Change:
    cites = tuple(re.findall(r"[\w.-]+", section.said.get("cites", "")))
    rest = {"cites": cites, "why": section.said.get("why", "")[:500]}
    heads = [line for line in section.lines if line in _HEADS]
    where = f"line {section.line} of the response: FILE: {section.path}"
    if not section.lines and any(line.strip() == "DELETE" for line in section.outside):
        return Change(section.path, "delete", **rest)
    if not section.lines:
        told = f"{where} is followed by no {OPEN}, no SEARCH/REPLACE block and no DELETE"
        raise EditFailure("parse", "malformed_block", told)
    if section.lines[0] == OPEN:
        if section.lines.index(CLOSE) != len(section.lines) - 1:
            raise EditFailure("parse", "malformed_block", f"{where} is followed by more than its one {OPEN} block")
        return Change(section.path, "write", _unfenced(section.path, section.lines[1:-1]), **rest)
    if OPEN in heads:
        raise EditFailure("parse", "malformed_block", f"{where} both writes and edits the file")
    blocks, _ = read_blocks("\n".join(section.lines))
    return Change(section.path, "edit", blocks=blocks, **rest)


def _unfenced(path: str, lines: list[str]) -> str:
    """The file's text. A code fence around the whole of a program belongs to the response, not to the program."""
    full = [i for i, line in enumerate(lines) if line.strip()]
    if path.endswith(".py") and full and lines[full[0]].startswith("```") and lines[full[-1]].strip() == "```":
        lines = lines[full[0] + 1 : full[-1]]
    return "\n".join(lines) + "\n" if lines else ""
