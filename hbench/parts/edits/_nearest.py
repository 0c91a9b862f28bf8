"""Why a SEARCH text was not found, said so that the next edit can be right."""

import difflib
from collections.abc import Sequence

_PLAIN = str.maketrans("“”„‘’–—\u00a0", "\"\"\"''-- ")


def what_differs(lines: Sequence[str], search: Sequence[str]) -> str:
    """One sentence: the first search line that the program lacks, the nearest it has, and what tells them apart."""
    have = [_clip(line) for line in lines]
    for wanted in map(_clip, search):
        if wanted.strip() and wanted not in have:
            return _missing(have, wanted)
    if _packed(search) and _packed(search) in _runs(_packed(lines), len(_packed(search))):
        return "the SEARCH text differs from the program only in its blank lines"
    return "each SEARCH line stands in the program, but not as one run of neighbouring lines"


def _missing(have: list[str], wanted: str) -> str:
    told = f"the program has no line {wanted!r}"
    nearest = _nearest(have, wanted)
    if nearest is None:
        return told + " and none like it"
    number = have.index(nearest) + 1
    return f"{told}; the nearest is line {number}, {nearest!r}{_difference(nearest, wanted)}"


def _nearest(have: list[str], wanted: str) -> str | None:
    plain = {line.translate(_PLAIN).strip(): line for line in reversed(have)}
    found = difflib.get_close_matches(wanted.translate(_PLAIN).strip(), plain, n=1, cutoff=0.5)
    return plain[found[0]] if found else None


def _difference(one: str, other: str) -> str:
    if one.strip() == other.strip():
        tabs = "\t" in one[: len(one) - len(one.lstrip())] + other[: len(other) - len(other.lstrip())]
        return " (indentation differs: tabs against blanks)" if tabs else " (indentation differs)"
    if one.translate(_PLAIN).strip() == other.translate(_PLAIN).strip():
        return " (quotes, dashes or blanks are look-alike characters)"
    if one.strip().replace('"', "'") == other.strip().replace('"', "'"):
        return " (quotes differ)"
    if "".join(one.split()) == "".join(other.split()):
        return " (blanks inside the line differ)"
    return " (upper and lower case differ)" if one.strip().lower() == other.strip().lower() else ""


def _clip(line: str) -> str:
    # Matching is quadratic in the length: nobody needs more to see which line is meant.
    return line.rstrip(" \t\r\n")[:200]


def _packed(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(_clip(line) for line in lines if line.strip())


def _runs(lines: tuple[str, ...], length: int) -> set[tuple[str, ...]]:
    return {lines[i : i + length] for i in range(len(lines) - length + 1)}
