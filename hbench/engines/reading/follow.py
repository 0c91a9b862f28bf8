"""Follows a chain of relations from page to page, as far as the pages tell."""

from collections.abc import Sequence
from dataclasses import dataclass

from hbench.engines.reading.chains import Chain, Comparison
from hbench.engines.reading.pages import Page, same_name
from hbench.engines.reading.relations import Relation, telling_patterns


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
    """What the first sentence that tells `relation` of `name` says."""
    patterns = telling_patterns(relation, name)
    for page in pages:
        on_own_page = same_name(page.title, name)
        if not on_own_page and name not in page.text:
            continue
        for sentence in page.sentences:
            for pattern, by_pronoun in patterns:
                if by_pronoun and not on_own_page:
                    continue
                if (found := pattern.search(sentence.text)) and not same_name(found["o"], name):
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
    left, right = (float(side.name.replace(",", "")) for side in measured)
    if comparison.wants == "yes_no":
        return "yes" if left < right else "no"
    first = (left < right) == (comparison.wants == "smaller")
    return follow(comparison.left if first else comparison.right, pages).name
