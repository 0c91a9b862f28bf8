"""Other words around the same puzzle: only framing prose changes, the puzzle's data stay byte for byte.

A question is framing with gaps: literals[0] + data[0] + literals[1] + … + literals[n]. The literals of a family are
what its questions have in common (`_frames.json`, made by `_derive_frames.py`). A question that fits no frame is one
gap, and only gets other words before and after it: those of aiw, basic_arithmetic, complex_arithmetic,
family_relationships, needle_haystack, number_sequence, simple_equations, time_intervals, composite, about half of
calendar_arithmetic and figlet_font, and some of kakurasu.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hbench.core.digest import derive_seed
from hbench.parts.families._wordings import WORDINGS, Wording, spoken

Frame = tuple[str, ...]
WHOLE: Frame = ("", "")  # no framing known: all is data
FRAMES = Path(__file__).with_name("_frames.json")
_MATERIAL = "First its material:\n\n"
_TASK = "\n\nNow the task, in which %s the material above:\n\n"


def reword(name: str, text: str) -> tuple[str, int]:
    """`text` of family `name` in the wording drawn for it, and that wording's number (0: unchanged).

    The draw depends on the question alone. A wording from which the question could not be got back is passed over.
    """
    drawn = derive_seed("wording", name, text) % len(WORDINGS)
    for step in range(len(WORDINGS)):
        wording = (drawn + step) % len(WORDINGS)
        varied = render(name, text, wording)
        if original(name, varied) == (text, wording):
            return varied, wording
    return text, 0


def render(name: str, text: str, wording: int) -> str:
    """The library's `text` in wording number `wording`; number 0 gives it back unchanged."""
    how, frame = WORDINGS[wording], _frame_of(name, text)
    data = _gaps(text, frame)
    if how.data_first and _stands_alone(frame):
        body = _data_first(frame, data, how)
    else:
        body = _fill([spoken(literal, how.voice) for literal in frame], data)
    return how.lead + body + how.close


def original(name: str, varied: str) -> tuple[str, int]:
    """The library's text behind a varied one, and the number of its wording. Inverse of `render`."""
    for number in range(len(WORDINGS) - 1, 0, -1):
        how = WORDINGS[number]
        if len(varied) < len(how.lead + how.close) or not (varied.startswith(how.lead) and varied.endswith(how.close)):
            continue
        body = varied[len(how.lead) : len(varied) - len(how.close)]
        for frame in (*_frames(name), WHOLE):
            text = _undo(body, frame, how)
            if text is not None and render(name, text, number) == varied:
                return text, number
    return varied, 0


def unframe(name: str, varied: str) -> tuple[int, tuple[str, ...]]:
    """Number of the wording, and the puzzle's data as they stand between the framing."""
    text, wording = original(name, varied)
    return wording, tuple(_gaps(text, _frame_of(name, text)))


def _frame_of(name: str, text: str) -> Frame:
    fitting = [frame for frame in _frames(name) if _gaps(text, frame) is not None]
    return max(fitting, key=lambda frame: sum(map(len, frame)), default=WHOLE)


def _gaps(text: str, literals: Sequence[str]) -> list[str] | None:
    """The texts between the literals, each literal taken where it comes first; None where they do not fit."""
    first, *inner, last = literals
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return None
    gaps, at, end = [], len(first), len(text) - len(last)
    for literal in inner:
        found = text.find(literal, at, end)
        if found < 0:
            return None
        gaps.append(text[at:found])
        at = found + len(literal)
    return [*gaps, text[at:end]]


def _fill(literals: Sequence[str], data: Sequence[str]) -> str:
    return literals[0] + "".join(gap + literal for gap, literal in zip(data, literals[1:], strict=True))


def _data_first(frame: Frame, data: Sequence[str], how: Wording) -> str:
    labels = [f"[{i}]" for i in range(1, len(data) + 1)]
    material = "\n\n".join(f"{label}\n{gap}" for label, gap in zip(labels, data, strict=True))
    return _MATERIAL + material + _task(labels) + _fill([spoken(literal, how.voice) for literal in frame], labels)


def _stands_alone(frame: Frame) -> bool:
    """Whether the framing reads well with a label in each gap: it leads up to the gap, and goes on after it anew."""
    befores, afters = frame[:-1], frame[1:]
    return (
        len(befores) <= 3
        and all(before.endswith(("\n", ": ")) for before in befores)
        and all(not after.strip() or after.startswith(("\n", ". ", "?")) for after in afters)
    )


def _task(labels: Sequence[str]) -> str:
    return _TASK % (f"{labels[0]} stands for" if len(labels) == 1 else f"{', '.join(labels)} stand for")


def _undo(body: str, frame: Frame, how: Wording) -> str | None:
    """The library's text if `body` was made from it with this frame, else None."""
    said = [spoken(literal, how.voice) for literal in frame]
    if how.data_first and _stands_alone(frame):
        labels = [f"[{i}]" for i in range(1, len(frame))]
        between = [f"\n\n{label}\n" for label in labels[1:]]
        data = _gaps(body, [f"{_MATERIAL}{labels[0]}\n", *between, _task(labels) + _fill(said, labels)])
    else:
        data = _gaps(body, said)
    return None if data is None else _fill(frame, data)


@cache
def _frames(name: str) -> tuple[Frame, ...]:
    return tuple(tuple(frame) for frame in _all_frames().get(name, ()))


@cache
def _all_frames() -> dict[str, list[list[str]]]:
    return json.loads(FRAMES.read_text(encoding="utf-8"))
