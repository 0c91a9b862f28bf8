"""Which demonstrations are kept: those that ran and beat their parent, shared evenly, and why the others are not."""

from collections import Counter
from pathlib import Path

import pytest

from hbench.core.failure import StepError
from hbench.core.output import Artifact
from hbench.steps.keep import keep
from tests.steps.stage import context, contexts_value

PARENT = {"files": {"harness.py": "seed"}, "id": "seed"}


def shown(candidate, context=0, score=0.8, **changed):
    told = {"prompt": candidate % 2, "response": f"edit {candidate}", "finish_reason": "stop", "applied": True}
    told |= {"parent_score": 0.5, "completion_rate": 1.0, "harness_id": f"h{candidate}"}
    return {"candidate": candidate, "context": context, "score": score, **told, **changed}


def kept(*demonstrations, contexts=None, most=None, margin=0.0, seed=0):
    rows = [{"harness_id": d["harness_id"], "path": "harness.py", "text": f"# {d['candidate']}"} for d in demonstrations]
    given = Artifact("k", {"demonstrations": list(demonstrations)}, "d", Path(), {"harnesses": rows}.get)
    contexts = contexts or contexts_value(context(PARENT), context(PARENT, 1))
    return keep({"most": most, "margin": margin, "seed": seed}, {"demonstrations": given, "contexts": contexts}, None).value


def test_an_edit_that_beats_its_parent_is_kept():
    value = kept(shown(0), shown(1, score=0.5))
    assert value["kept"] == [
        {"candidate": 0, "context": 0, "prompt": 0, "response": "edit 0", "score": 0.8, "parent_score": 0.5}
    ]
    assert value["counts"] == {"toy": [1, 2]} and value["dropped"] == {"no better than the parent": 1}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"applied": False, "score": None}, "not applied"),
        ({"finish_reason": "length"}, "cut off"),
        ({"completion_rate": 0.75}, "not completed"),
        ({"score": 0.6}, "no better than the parent"),
        ({"response": "edit 0"}, "repeated"),
    ],
)
def test_each_reason_for_dropping_is_counted(change, reason):
    value = kept(shown(0), shown(1, **change), margin=0.1)
    assert value["dropped"] == {reason: 1} and [one["candidate"] for one in value["kept"]] == [0]


def test_one_response_may_serve_two_contexts():
    assert len(kept(shown(0), shown(1, context=1, response="edit 0"))["kept"]) == 2


def test_the_best_kept_edit_of_each_family_is_told():
    contexts = contexts_value(context(PARENT), context(PARENT, 1, family="other"), context(PARENT, 2, family="third"))
    value = kept(shown(0, score=0.7), shown(1, score=0.9), shown(2, score=0.9), shown(3, 1, 0.4), contexts=contexts)
    assert value["best_toy"] == {"files": {"harness.py": "# 1"}, "id": "h1"}, "the earliest on ties"
    assert value["best_other"] is None and value["best_third"] is None


def many(families, contexts_each, edits_each):
    contexts = [
        context(PARENT, f * contexts_each + c, family=f"f{f}") for f in range(families) for c in range(contexts_each)
    ]
    edits = [shown(c["position"] * edits_each + e, c["position"]) for c in contexts for e in range(edits_each)]
    return edits, contexts_value(*contexts)


def test_the_most_that_is_kept_is_shared_over_families_and_their_contexts():
    edits, contexts = many(families=3, contexts_each=4, edits_each=5)
    value = kept(*edits, contexts=contexts, most=24)
    assert {family: count for family, (count, _) in value["counts"].items()} == {"f0": 8, "f1": 8, "f2": 8}
    assert set(Counter(one["context"] for one in value["kept"]).values()) == {2}
    assert value["dropped"] == {"more than asked for": 36}


def test_a_small_family_leaves_its_share_to_the_others():
    edits, contexts = many(families=2, contexts_each=2, edits_each=5)
    value = kept(*(e for e in edits if e["context"] > 1 or e["candidate"] == 0), contexts=contexts, most=6)
    assert value["counts"] == {"f0": [1, 1], "f1": [5, 10]}


def test_what_is_kept_of_too_many_is_drawn_by_the_seed():
    edits, contexts = many(families=1, contexts_each=1, edits_each=20)
    draws = [tuple(one["candidate"] for one in kept(*edits, contexts=contexts, most=5, seed=s)["kept"]) for s in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2] and list(draws[0]) == sorted(draws[0])


def test_when_nothing_is_kept_the_step_says_why():
    with pytest.raises(StepError, match="none of 3 demonstrations is kept: 1 no better than the parent, 2 not applied"):
        kept(shown(0, applied=False), shown(1, applied=False), shown(2, score=0.1))
