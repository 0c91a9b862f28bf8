"""Fenced code blocks in a response, as CommonMark reads them, with any indentation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PYTHON = {"", "python", "py", "python3"}
_OPEN = re.compile(r"(?P<lead>[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?)(?P<sign>`{3,}|~{3,})(?P<info>.*)")


@dataclass(frozen=True, slots=True)
class Fence:
    """start, stop: half-open range of lines, both fences in it. body: lines between, dedented by the fence's lead."""

    start: int
    stop: int
    tag: str
    body: tuple[str, ...]
    closed: bool

    @property
    def is_python(self) -> bool:
        return self.tag.lower() in _PYTHON


def read_fences(lines: Sequence[str]) -> list[Fence]:
    """Every block in order. One that is never closed reaches to the end."""
    found: list[Fence] = []
    number = 0
    while number < len(lines):
        opening = _opens(lines[number])
        if opening:
            found.append(_read(lines, number, opening))
            number = found[-1].stop
        else:
            number += 1
    return found


def _opens(line: str) -> re.Match[str] | None:
    found = _OPEN.fullmatch(line.rstrip(" \t\r"))
    # A backtick in the info string makes it code within a sentence: ```x``` opens nothing.
    return None if found and found["sign"][0] == "`" and "`" in found["info"] else found


def _read(lines: Sequence[str], start: int, opening: re.Match[str]) -> Fence:
    width, sign = len(opening["lead"]), opening["sign"]
    closing = re.compile(rf"[ \t]{{0,{width + 3}}}{re.escape(sign[0])}{{{len(sign)},}}[ \t\r]*")
    stop = next((i for i in range(start + 1, len(lines)) if closing.fullmatch(lines[i])), None)
    inside = lines[start + 1 : len(lines) if stop is None else stop]
    tag = opening["info"].split()[0] if opening["info"].strip() else ""
    body = tuple(re.sub(rf"^[ \t]{{0,{width}}}", "", line) for line in inside)
    return Fence(start, len(lines) if stop is None else stop + 1, tag, body, stop is not None)
