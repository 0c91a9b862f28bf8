"""Patterns that are held against what a model wrote: none may take long, whatever the text is."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from re import _parser
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

LONGEST = 8000  # characters of one text that are looked at: its head and its tail
MOST_STEPS = 2**23  # of one part of a pattern on one text: a second at most, where a text is made to stall it

_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


def _parts(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _checked(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Raises ValueError for what is no pattern, is in every text, or may take too long."""
    if not parts:
        raise ValueError("a pattern has one part at least")
    for part in parts:
        try:
            everywhere = re.search(part, "")
        except (re.error, RecursionError, OverflowError) as bad:
            raise ValueError(f"{part!r} is no pattern: {bad}") from None
        if everywhere:
            raise ValueError(f"{part!r} is in every text")
        if (most := steps(part)) > MOST_STEPS:
            raise ValueError(
                f"{part!r} may take {most:.0e} steps on a text that was written to stall it; bound its repeats, as in "
                r"\s{0,3} for \s*, or write a list of parts, which are looked for one behind another, for what a .* joins"
            )
    return parts


Pattern = Annotated[
    tuple[str, ...],
    BeforeValidator(_parts),
    AfterValidator(_checked),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]


def found(pattern: Sequence[str], text: str) -> bool:
    """Whether the parts of `pattern` stand in `text`, each behind the end of the one before. ^ and $ are ends of lines."""
    at = 0
    for part in pattern:
        match = _compiled(part).search(text, at)
        if match is None:
            return False
        at = match.end()
    return True


@lru_cache(maxsize=1024)
def _compiled(part: str) -> re.Pattern[str]:
    return re.compile(part, re.MULTILINE)


def steps(part: str) -> int:
    """An upper bound of the places and ways in which `part` can be tried on a text of LONGEST characters."""
    return LONGEST * _ways(_parser.parse(part))


def _ways(items: Iterable[tuple[Any, Any]]) -> int:
    """In how many ways these may match at one place. Those one behind another multiply."""
    found = 1
    for operator, argument in items:
        found = min(found * _ways_of(str(operator), argument), 10**30)
    return found


def _ways_of(operator: str, argument: Any) -> int:
    if operator in _REPEATS:
        low, high, inside = argument
        high = min(int(high), LONGEST)
        return max(high - int(low) + 1, 1) * min(_ways(inside) ** min(high, 99), 10**30)
    if operator == "BRANCH":
        return _ways_of_branches(argument[1])
    if operator == "SUBPATTERN":
        return _ways(argument[-1])
    if operator in ("ASSERT", "ASSERT_NOT"):
        return _ways(argument[1])
    if operator == "ATOMIC_GROUP":
        return _ways(argument)
    if operator == "GROUPREF_EXISTS":
        return 10**30
    return LONGEST if operator.startswith("GROUPREF") else 1


def _ways_of_branches(branches: Sequence[Any]) -> int:
    """Of branches that begin with different characters one alone can match."""
    first = [branch[0] if len(branch) else None for branch in branches]
    letters = [each[1] for each in first if each is not None and str(each[0]) == "LITERAL"]
    alone = len(set(letters)) == len(branches)
    ways = [_ways(branch) for branch in branches]
    return max(ways) if alone else sum(ways)
