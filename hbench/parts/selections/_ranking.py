"""Which scores compare, and in what order they stand."""

from collections.abc import Iterable, Sequence

from hbench.core.scored import Scored


def ranking(harnesses: Iterable[Scored]) -> list[Scored]:
    """Best first; equal scores in order of proposal; what was not run stands below everything that ran."""
    return sorted(harnesses, key=lambda one: (one.score is None, -(one.score or 0.0), one.position))


def comparable(parent: Scored, candidates: Sequence[Scored]) -> list[Scored]:
    """The candidates scored on the same questions as the parent (where it was not scored: as the first that was)."""
    scored = [one for one in candidates if one.score is not None]
    if parent.score is None and not scored:
        return []
    questions = parent.questions if parent.score is not None else scored[0].questions
    return [one for one in scored if one.questions == questions]


def best(parent: Scored, candidates: Sequence[Scored]) -> Scored | None:
    """The best candidate that compares, the earliest of equals; None when there is none."""
    return next(iter(ranking(comparable(parent, candidates))), None)


def best_above(parent: Scored, candidates: Sequence[Scored]) -> Scored:
    """The best candidate when strictly above the parent, else the parent. A parent that did not run is below all."""
    found = best(parent, candidates)
    if found is None or (parent.score is not None and found.score <= parent.score):
        return parent
    return found
