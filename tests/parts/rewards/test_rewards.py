"""Reward terms: the paper's numbers, and what failed and empty edits earn."""

import pytest

from hbench.core.candidate import Candidate
from hbench.core.failure import Failure
from hbench.core.harness import Harness
from hbench.core.rollout import Rollout
from hbench.parts.part import build
from hbench.parts.rewards._total import reward_terms, total
from hbench.parts.rewards.applied import Applied
from hbench.parts.rewards.completed import Completed
from hbench.parts.rewards.parsed import Parsed
from hbench.parts.rewards.task_score import TaskScore

pytestmark = pytest.mark.truth
TERMS = {"parsed": Parsed(), "applied": Applied(), "completed": Completed(), "task_score": TaskScore()}
PARENT = Harness.of("def run(question, tools):\n    return ''\n")
CHILD = Harness.of("def run(question, tools):\n    return '4'\n")


def ran(*scores: float | None) -> tuple[Rollout, ...]:
    """One rollout a score; None did not complete."""
    return tuple(
        Rollout("h", str(i), 0, "x", {"score": s or 0.0}, completed=s is not None) for i, s in enumerate(scores)
    )


def failed(boundary: str, kind: str, rollouts: tuple[Rollout, ...] = ()) -> Candidate:
    return Candidate(PARENT, "…", None, Failure(boundary, kind), rollouts=rollouts)


def reward(candidate: Candidate, no_change: str = "form_only") -> float:
    return total(reward_terms(candidate, TERMS, no_change), TERMS)


def test_all_run_and_all_wrong_earns_030():
    assert reward(Candidate(PARENT, "…", CHILD, rollouts=ran(0.0, 0.0))) == pytest.approx(0.30)


def test_all_run_and_all_right_earns_130():
    assert reward(Candidate(PARENT, "…", CHILD, rollouts=ran(1.0, 1.0))) == pytest.approx(1.30)


def test_completion_and_score_count_by_question():
    candidate = Candidate(PARENT, "…", CHILD, rollouts=ran(1.0, None, 0.0, 0.5))
    assert reward(candidate) == pytest.approx(0.15 + 0.15 * 0.75 + 0.375)


def test_a_response_that_does_not_parse_earns_nothing():
    assert reward(failed("parse", "no_edit_blocks")) == 0.0


def test_an_edit_that_does_not_apply_earns_its_form_only():
    assert reward(failed("apply", "search_not_found")) == pytest.approx(0.05)


def test_a_failed_edit_never_earns_the_parents_score():
    assert reward_terms(failed("apply", "syntax_error", ran(1.0, 1.0)), TERMS)["task_score"] == 0.0


def test_an_edit_that_changes_nothing_earns_its_form_only():
    values = reward_terms(failed("apply", "no_change", ran(1.0)), TERMS)
    assert values == {"parsed": 1.0, "applied": 0.0, "completed": 0.0, "task_score": 0.0}


def test_no_change_may_be_rewarded_as_the_parent_where_the_spec_says_so():
    assert reward(failed("apply", "no_change", ran(1.0, 0.0)), "as_parent") == pytest.approx(0.30 + 0.5)


def test_the_grade_that_the_spec_names_is_the_score():
    rollouts = (Rollout("h", "q", 0, "x", {"score": 0.6, "exact": 0.0}, completed=True),)
    assert TaskScore().value(Candidate(PARENT, "…", CHILD, rollouts=rollouts, grade="exact")) == 0.0


def test_nothing_run_scores_nothing():
    candidate = Candidate(PARENT, "…", CHILD)
    assert (Completed().value(candidate), TaskScore().value(candidate)) == (0.0, 0.0)


def test_a_weight_is_a_field_and_terms_are_built_from_their_blocks():
    assert build("rewards", {"kind": "task_score", "weight": 0.7, "version": 1}) == TaskScore(weight=0.7)
