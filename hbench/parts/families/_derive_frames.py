"""Finds the framing of each reasoning-gym family: what its questions have in common. Writes `_frames.json`.

    python -m hbench.parts.families._derive_frames

Run when the library changes. Takes some minutes (knight_swap and futoshiki are slow to generate).
"""

import json
import os
import re
from collections.abc import Sequence

from hbench.core.digest import derive_seed
from hbench.parts.families import _library, _pool
from hbench.parts.families._framing import FRAMES

SAMPLED = 50  # questions, from each of two pools
FEWEST_WORDS = 6  # framing with fewer words is left alone: it is a sentence around data, not an instruction
_WORD = re.compile(r"[A-Za-z]{2,}")


def derive(questions: Sequence[str]) -> list[list[str]]:
    """Frames for these questions of one family: one, or one for each way in which at least 4 of them begin."""
    frame = _common(questions)
    if _words("".join(frame)) >= FEWEST_WORDS:
        return [frame]
    groups: dict[tuple[str, ...], list[str]] = {}
    for question in questions:
        groups.setdefault(tuple(question.split()[:2]), []).append(question)
    frames = [_common(group) for group in groups.values() if len(set(group)) >= 4]
    return [frame for frame in frames if _words("".join(frame)) >= FEWEST_WORDS]


def _common(questions: Sequence[str]) -> list[str]:
    """Common beginning, lines of prose that stand once in every question, common end."""
    start = _prefix(questions)
    rest = [question[len(start) :] for question in questions]
    end = _suffix(rest)
    return [start, *_shared_lines([text[: len(text) - len(end)] for text in rest]), end]


def _prefix(texts: Sequence[str]) -> str:
    """Common beginning up to a blank, without last lines that hold no word (they belong to the puzzle)."""
    common = os.path.commonprefix(list(texts))
    common = common[: max(common.rfind(" "), common.rfind("\n")) + 1]
    lines = common.splitlines(keepends=True)
    while lines and lines[-1].strip() and not _words(lines[-1]):
        lines.pop()
    return "".join(lines)


def _suffix(texts: Sequence[str]) -> str:
    """Common end from a blank or a stop, without first lines that hold no word."""
    common = os.path.commonprefix([text[::-1] for text in texts])[::-1]
    start = re.search(r"[\s.?!;]", common)
    lines = common[start.start() :].split("\n") if start else []
    while lines and not _words(lines[0]):
        lines.pop(0)
        if lines and _words(lines[0]):
            return "\n" + "\n".join(lines)
    return "\n".join(lines)


def _shared_lines(texts: Sequence[str]) -> list[str]:
    """Lines with at least three words that stand once in each text, in the same order; neighbours as one piece."""
    pieces: list[str] = []
    at = [0] * len(texts)
    for line in texts[0].split("\n"):
        piece = f"\n{line}\n"
        found = [text.find(piece, place) for text, place in zip(texts, at, strict=True)]
        if _words(line) < 3 or min(found) < 0 or any(text.count(piece) != 1 for text in texts):
            continue
        at = [place + len(piece) - 1 for place in found]
        if pieces and all(pieces[-1] + piece[1:] in text for text in texts):
            pieces[-1] += piece[1:]
        else:
            pieces.append(piece)
    return pieces


def _words(text: str) -> int:
    return len(_WORD.findall(text))


def sample(name: str) -> list[str]:
    """Questions of two pools of this family, in the library's wording."""
    seeds = [derive_seed("frames", name, pool) % 2**31 for pool in range(2)]
    return [entry["question"] for seed in seeds for entry in _pool.entries(name, {}, seed, 0, SAMPLED)]


def main() -> None:
    names = [name for name in _library.modules() if name != "composite"]
    frames = {name: derive(sample(name)) for name in names}
    lines = [f"{json.dumps(name)}: {json.dumps(found, ensure_ascii=False)}" for name, found in frames.items() if found]
    FRAMES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
