"""What a relation is to the rule-based reader: how English asks for it, and how it tells it.

A relation's lines are patterns: {x} in a question is whoever it is about; in a telling sentence {s} is that name (or a
pronoun, on its own page), and {o} is what the sentence says, of the relation's sort. A line without {s} holds on the
page of that name only.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

_CAPITAL = r"(?:[A-Z]\.(?= [A-Z])|[A-ZÀ-ÖØ-ÞĀ-Ž][\w’'\-]*)"
_NAME = rf"(?:{_CAPITAL}(?: (?:(?:of the|of|de|da|di|van|von|&) )?{_CAPITAL})*)"
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
SORTS = {
    "name": _NAME,
    "place": rf"(?:{_NAME}(?:, {_NAME})*)",
    "year": r"(?:\d{4})",
    "date": rf"(?:\d{{1,2}} {_MONTH},? \d{{4}}|{_MONTH} \d{{1,2}}, ?\d{{4}}|\d{{4}})",
    "number": r"(?:\d[\d,.]*\d|\d)",
}
_KINDS = (
    r"(?:town of|city of|village of|company|firm|book|novel|film|song|album|instrument|school|river|festival|"
    r"magazine|band)"
)
_PRONOUN = (
    r"(?:He|She|It|They|The (?:town|city|company|firm|book|novel|film|song|album|instrument|school|river|festival|"
    r"place))"
)


@dataclass(frozen=True)
class Relation:
    """cues: words worth searching for. inside: noun phrases. whole: questions. tells: sentences."""

    name: str
    sort: str
    cues: str
    inside: tuple[str, ...]
    whole: tuple[str, ...]
    tells: tuple[str, ...]


@lru_cache(4096)
def telling_patterns(relation: Relation, name: str) -> tuple[tuple[re.Pattern, bool], ...]:
    """(pattern with the group o, whether it holds on the own page only) for sentences about `name`."""
    bare = re.escape(re.sub(r" *\([^)]*\)$", "", name) or name)  # 'Flora (2017 film)' is called Flora in its text
    by_name = rf"(?:[Tt]he )?(?:{_KINDS} )?[\"“]?(?i:{bare})[\"”]?"
    found = []
    for line in relation.tells:
        start = "^" if line.startswith(("{s}", "{o}")) else ""
        told = line.replace("{o}", rf"(?:the )?(?P<o>{SORTS[relation.sort]})")
        found.append((re.compile(start + told.replace("{s}", by_name)), False))
        if "{s}" not in line:
            found[-1] = (found[-1][0], True)
        elif line.startswith("{s}"):
            found.append((re.compile(start + told.replace("{s}", _PRONOUN)), True))
    return tuple(found)
