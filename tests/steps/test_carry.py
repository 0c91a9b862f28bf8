"""Where the next segment goes on: the best candidate of each context, or a random one; its own harness where none ran."""

from pathlib import Path

import pytest

from hbench.core.output import Artifact
from hbench.steps.carry import carry
from tests.steps.stage import context, contexts_value

PARENT = {"files": {"harness.py": "seed"}, "id": "seed"}


def trained(*completions):
    """completions: (context, scores of its rollouts, changes); scores None: the edit failed."""
    rows = {"completions": [], "candidates": [], "rollouts": [], "harnesses": []}
    for number, (position, scores, *changes) in enumerate(completions):
        change = changes[0] if changes else {}
        same = change.get("same_as")
        harness = None if scores is None and same is None else f"h{number if same is None else same}"
        rows["completions"].append({"candidate": number, "context": position, "same_as": same, "reward": 1.0})
        rows["candidates"].append({"candidate": number, "applied": harness is not None, "harness_id": harness,
                                   "explanation": f"edit {number}"})  # fmt: skip
        if scores is not None:
            rows["harnesses"].append({"harness_id": harness, "path": "harness.py", "text": f"# {number}"})
        rows["rollouts"] += [{"candidate": number, "score": score} for score in scores or ()]
    return Artifact("k" * 64, {}, "d", Path(), lambda table: rows.get(table, []))


def carried(made, *contexts, rule="best", seed=0):
    given = contexts_value(*(contexts or (context(PARENT),)))
    return carry({"rule": rule, "seed": seed}, {"trained": made, "contexts": given}, None).value


def test_the_best_candidate_goes_on_the_earliest_on_ties():
    value = carried(trained((0, [1, 0]), (0, [1, 1]), (0, [1, 1]), (0, None)))
    assert value["context_0"]["from_candidate"] == 1 and value["context_0"]["from_step_key"] == "k" * 64
    assert value["harness_0"] == {"files": {"harness.py": "# 1"}, "id": "h1"} == value["context_0"]["harness"]


def test_its_edit_is_told_as_an_earlier_round():
    history = carried(trained((0, [0.5, 1.0])))["history_0"]
    edit = {"explanation": "edit 0", "outcome": "applied", "message": "", "slot": 0, "score": 0.75}
    assert history == {"parent_score": None, "chosen_slot": 0, "edits": [edit]}


def test_each_context_goes_on_from_its_own_candidates():
    value = carried(trained((0, [0]), (1, [1]), (0, [0.5])), context(PARENT), context(PARENT, 1))
    assert [value[f"context_{i}"]["from_candidate"] for i in (0, 1)] == [2, 1]


@pytest.mark.parametrize("completions", [[], [(0, None), (0, None)], [(1, [1.0])]])
def test_where_nothing_ran_the_harness_stays(completions):
    value = carried(trained(*completions), context(PARENT), context(PARENT, 1))
    assert value["harness_0"] == PARENT and value["context_0"]["from_candidate"] is None
    assert value["history_0"] == {"parent_score": None, "chosen_slot": -1, "edits": []}


def test_an_entry_that_was_left_out_stays_out():
    left = contexts_value(context(PARENT, 0, entry=1))
    left.value["entries"] = 3
    value = carry({"rule": "best", "seed": 0}, {"trained": trained((0, [1])), "contexts": left}, None).value
    assert [value[f"harness_{i}"] and value[f"harness_{i}"]["id"] for i in range(3)] == [None, "h0", None]


def test_a_random_one_is_drawn_among_those_that_ran_equal_ones_by_their_number():
    made = trained((0, [0]), (0, None, {"same_as": 0}), (0, None), (0, [1]))
    drawn = [carried(made, rule="random", seed=seed)["context_0"] for seed in range(40)]
    assert {one["from_candidate"] for one in drawn} == {0, 1, 3}
    assert {one["harness"]["id"] for one in drawn if one["from_candidate"] == 1} == {"h0"}
    assert drawn[7] == carried(made, rule="random", seed=7)["context_0"]
