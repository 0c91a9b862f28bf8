"""Follows a chain of relations from page to page, as far as the pages tell."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hbench.engines.reading.chains import Chain, Comparison
from hbench.engines.reading.pages import Page, contains_name, same_name
from hbench.engines.reading.relation import Relation, telling_patterns

_MONTHS = "January February March April May June July August September October November December".split()


@dataclass(frozen=True)
class Reached:
    """name: how far the reading came. missing: the relation that no page tells of it; None at the end of the chain."""

    name: str
    missing: Relation | None = None


def follow(chain: Chain, pages: Sequence[Page]) -> Reached:
    name = chain.start
    for relation in chain.relations:
        told = look_up(relation, name, pages)
        if told is None:
            return Reached(name, relation)
        name = told
    return Reached(name)


def look_up(relation: Relation, name: str, pages: Sequence[Page]) -> str | None:
    """What the first sentence that tells `relation` of `name` says; pages with a longer title come last."""
    own = [page for page in pages if same_name(page.title, name)]
    longer = [page for page in pages if page not in own and contains_name(page.title, name)]
    readings = [(own, True), ([page for page in pages if page not in own], False), (longer, True)]
    for chosen, is_own in readings:
        for page in chosen:
            if told := _told(relation, name, page, is_own):
                return told
    return None


def _told(relation: Relation, name: str, page: Page, is_own: bool) -> str | None:
    if not is_own and name not in page.text:
        return None
    for sentence in page.sentences:
        for pattern, own_page_only in telling_patterns(relation, name):
            found = pattern.search(sentence.text) if is_own or not own_page_only else None
            if found and not same_name(found["o"], name):
                return found["o"]
    return None


def sides(comparison: Comparison, pages: Sequence[Page]) -> tuple[Reached, Reached]:
    """How far the reading comes on each side, the measure included."""
    return tuple(follow(side.then(comparison.measure), pages) for side in (comparison.left, comparison.right))


def decide(comparison: Comparison, pages: Sequence[Page]) -> str | None:
    """The name of the side that is asked for, yes or no; None where a page is missing."""
    measured = sides(comparison, pages)
    if any(side.missing for side in measured):
        return None
    if comparison.wants == "same":
        return "yes" if same_name(*(side.name for side in measured)) else "no"
    left, right = (_size(side.name) for side in measured)
    if comparison.wants == "yes_no":
        return "yes" if left < right else "no"
    chosen = comparison.left if (left < right) == (comparison.wants == "smaller") else comparison.right
    return chosen.start if comparison.by_start else follow(chosen, pages).name


def _size(told: str) -> float:
    """A number, or a date as year and share of the year."""
    if any(name in told for name in _MONTHS):
        day, year = [int(number) for number in re.findall(r"\d+", told)]
        month = next(i for i, name in enumerate(_MONTHS) if name in told)
        return year + (month + day / 32) / 12
    return float(told.replace(",", ""))
