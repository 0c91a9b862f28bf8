"""Rewards are sums of stored terms; doing nothing does not bank the parent's score unless the spec says so."""

from pathlib import Path

import pytest

from hbench.core.harness import Harness
from hbench.core.output import Artifact
from hbench.steps.harness import harness_value
from hbench.steps.reward import reward

pytestmark = pytest.mark.truth
PARENT = Harness.of("def run(question, tools):\n    return '1'\n")
TERMS = {
    "parsed": {"kind": "parsed", "weight": 0.05},
    "applied": {"kind": "applied", "weight": 0.10},
    "completed": {"kind": "completed", "weight": 0.15},
    "task_score": {"kind": "task_score", "weight": 1.0},
}


def artifact(value, scores=()):
    rollouts = [
        {
            "harness_id": PARENT.id, "question_id": str(i), "repeat": 0, "answer": "1", "completed": True, "failure": None,
            "boundary": None, "error": None, "calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "seconds": 0.0,
        }
        for i, _ in enumerate(scores)
    ]  # fmt: skip
    grades = [{"question_id": str(i), "repeat": 0, "name": "score", "value": s} for i, s in enumerate(scores)]
    return Artifact("key", value, "digest", Path("."), {"rollouts": rollouts, "grades": grades}.get)


def candidate(failure=None):
    edited = Harness.of("def run(question, tools):\n    return '2'\n")
    return artifact(
        {
            "parent": harness_value(PARENT),
            "harness": None if failure else harness_value(edited),
            "response": "",
            "explanation": "",
            "failure": failure,
        }
    )


def rewarded(proposal, trial, no_change="form_only"):
    params = {"terms": TERMS, "no_change": no_change, "grade": "score"}
    return reward(params, {"candidate": proposal, "trial": trial, "parent": artifact({}, [1.0, 0.0])}, None)


def test_an_edit_that_runs_and_solves_half_earns_form_and_half():
    output = rewarded(candidate(), artifact({}, [1.0, 0.0]))
    assert output.value["reward"] == pytest.approx(0.05 + 0.10 + 0.15 + 0.5)
    assert sum(r["value"] * r["weight"] for r in output.rows["reward_terms"]) == pytest.approx(output.value["reward"])


def test_all_run_and_all_wrong_earns_the_form_alone():
    assert rewarded(candidate(), artifact({}, [0.0, 0.0])).value["reward"] == pytest.approx(0.30)


def test_a_failed_edit_earns_nothing_but_what_it_got_right():
    failure = {"boundary": "apply", "kind": "search_not_found", "message": ""}
    assert rewarded(candidate(failure), artifact({})).value["terms"] == {
        "parsed": 1.0,
        "applied": 0.0,
        "completed": 0.0,
        "task_score": 0.0,
    }


NO_CHANGE = {"boundary": "apply", "kind": "no_change", "message": ""}


def test_doing_nothing_does_not_bank_the_parents_score():
    assert rewarded(candidate(NO_CHANGE), artifact({})).value["reward"] == pytest.approx(0.05)


def test_doing_nothing_earns_what_the_parent_does_when_the_spec_says_so():
    assert rewarded(candidate(NO_CHANGE), artifact({}), "as_parent").value["reward"] == pytest.approx(0.30 + 0.5)
