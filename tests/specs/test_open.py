"""The open questions as specs: each changes what it says it changes, and nothing else."""

import json

import pytest

from hbench.plan import compile
from hbench.spec import load
from tests.where import REPO

OPEN = sorted(f"open/{file.stem}" for file in (REPO / "specs/open").glob("*.yaml") if file.stem != "small")


def arms(name):
    """Arm -> its hashed fields, of the first point."""
    return {arm: block.hashed() for arm, block in load(name)[0].arms.items()}


def differing(one, other):
    return {name for name in one if json.dumps(one[name], sort_keys=True) != json.dumps(other[name], sort_keys=True)}


@pytest.mark.parametrize("name", OPEN)
def test_each_compiles_and_races_its_candidates(name):
    plans = [compile(spec) for spec in load(name)]
    assert all(any(step.kind == "race" for step in plan.steps) for plan in plans)


def test_a_swapped_solver_is_all_that_differs():
    found = arms("open/solver_swap")
    assert differing(found["rl"], found["rl_swapped"]) == differing(found["base"], found["base_swapped"]) == {"solver"}


def test_another_output_grammar_asks_the_same_held_out_questions():
    spec = load("open/output_grammar")[0]
    assert differing(*(arms("open/output_grammar")[arm] for arm in ("rl", "rl_json"))) == {"family"}
    own, other = (spec.arms[arm].family.questions(0, 8, 0) for arm in ("rl", "rl_json"))
    assert [q.content_id for q in own] == [q.content_id for q in other]


def test_more_feedback_questions_leave_scoring_and_held_out_ones_alone():
    blocks = [spec.arms["base"].hashed() for spec in load("open/feedback_questions")]
    assert [block["splits"]["feedback"] for block in blocks] == [1, 2, 4, 8, 16]
    assert differing(blocks[0], blocks[-1]) == {"splits"}
    assert len({(block["splits"]["scoring"], block["splits"]["evaluation"]) for block in blocks}) == 1


def test_each_ablation_of_feedback_changes_the_report_alone():
    found = arms("open/feedback_ablation")
    for arm in ("gold", "documents", "binary", "trace", "score"):
        assert differing(found["all"], found[arm]) == {"report"}
        changed = differing(found["all"]["report"], found[arm]["report"])
        assert changed and all(name.startswith("show_") or name == "scores_only" for name in changed)
