"""A candidate: what its failure says, and its scores."""

import pytest

from hbench.core.candidate import Candidate
from hbench.core.failure import EditFailure, Failure
from hbench.core.harness import Harness
from hbench.core.rollout import Rollout

PARENT = Harness.of("def run(question, tools):\n    return ''\n")


def rollout(score: float, completed: bool = True) -> Rollout:
    return Rollout("h", "q", 0, "a", {"score": score, "exact": float(score == 1)}, completed)


def test_a_response_that_does_not_parse_is_neither_parsed_nor_applied():
    candidate = Candidate(PARENT, "…", None, Failure("parse", "no_edit_blocks"))
    assert (candidate.parsed, candidate.applied) == (False, False)


def test_an_edit_that_does_not_apply_is_parsed():
    candidate = Candidate(PARENT, "…", None, Failure("apply", "search_not_found"))
    assert (candidate.parsed, candidate.applied) == (True, False)


def test_scores_are_means_over_rollouts_and_nothing_run_is_zero():
    candidate = Candidate(PARENT, "…", PARENT)
    assert (candidate.task_score, candidate.completion_rate) == (0.0, 0.0)
    ran = candidate.with_rollouts((rollout(1.0), rollout(0.5), rollout(0.0, completed=False), rollout(0.0)))
    assert (ran.task_score, ran.completion_rate) == (0.375, 0.75)
    assert ran.parent is candidate.parent and ran.response == candidate.response


def test_the_named_grade_is_the_score():
    exact = Candidate(PARENT, "…", PARENT, grade="exact").with_rollouts((rollout(1.0), rollout(0.5)))
    assert exact.task_score == 0.5


def test_an_edit_failure_carries_its_failure_cut_to_size():
    with pytest.raises(EditFailure) as caught:
        raise EditFailure("apply", "syntax_error", "x" * 5000)
    assert caught.value.failure.boundary == "apply" and len(caught.value.failure.message) == 2000


def test_a_mean_is_the_same_in_whatever_order_rollouts_ended():
    """A step's rows come in the order in which rollouts ended; training has them in the order of the questions."""
    scores = [0.1, 0.7, 0.2, 0.4, 0.3, 0.9, 0.6]
    orders = (sorted(scores), sorted(scores, reverse=True), scores)
    means = {Candidate(PARENT, "…", PARENT, rollouts=tuple(map(rollout, order))).task_score for order in orders}
    assert len(means) == 1
