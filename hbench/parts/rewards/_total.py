"""The terms of a candidate's reward."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from hbench.core.candidate import Candidate
from hbench.core.protocols import RewardTerm

NoChange = Literal["form_only", "as_parent"]


def reward_terms(
    candidate: Candidate, terms: Mapping[str, RewardTerm], no_change: NoChange = "form_only"
) -> dict[str, float]:
    """Term name -> unweighted value in [0, 1], in the order of `terms`.

    no_change: what an edit that changes nothing earns. form_only: it parsed, and that is all; applied, completed and
    task_score are 0, else doing nothing would bank the parent's score. as_parent: as if the parent were the result,
    scored by the rollouts handed in with the candidate.
    """
    if stands_for_parent(candidate, no_change):
        candidate = replace(candidate, harness=candidate.parent, failure=None)
    return {name: term.value(candidate) for name, term in terms.items()}


def stands_for_parent(candidate: Candidate, no_change: NoChange) -> bool:
    """Whether the rollouts that count are its parent's: it changes nothing, and earns what the parent does."""
    unchanged = candidate.failure is not None and candidate.failure.kind == "no_change"
    return unchanged and no_change == "as_parent"


def total(values: Mapping[str, float], terms: Mapping[str, RewardTerm]) -> float:
    """Σ weight x value: the plain sum of the paper."""
    return sum(terms[name].weight * value for name, value in values.items())
