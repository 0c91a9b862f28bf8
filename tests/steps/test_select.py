"""Selection: what a rule sees of candidates that failed, changed nothing, or ran."""

from pathlib import Path

from hbench.core.output import Artifact
from hbench.steps.select import select


def evaluated(name, score):
    harness = None if name is None else {"files": {"harness.py": name}, "id": name}
    value = {"harness": harness, "harness_id": name, "score": score, "question_ids": ["q"] if name else [],
             "completion_rate": 1.0, "tokens": 0}  # fmt: skip
    return Artifact("key", value, "digest", Path("."), lambda _: [])


def edit(outcome):
    return Artifact("key", {"outcome": outcome, "explanation": "", "message": ""}, "digest", Path("."), lambda _: [])


def selected(rule, parent, *candidates):
    inputs = {"parent": evaluated("parent", parent)}
    for i, (outcome, score) in enumerate(candidates):
        inputs[f"candidate_{i}"] = evaluated(f"c{i}" if outcome == "applied" else None, score)
        inputs[f"edit_{i}"] = edit(outcome)
    return select({"rule": {"kind": rule}}, inputs, None)


def chosen(*told):
    return selected(*told).value


def rows(*told):
    return selected(*told).rows["selections"]


def test_an_explicit_no_change_stands_with_its_parents_score():
    """best_candidate adopted a program that scored 0 although another proposal had said to keep a parent that scored more."""
    value = chosen("best_candidate", 0.5, ("applied", 0.0), ("no_change", None))
    assert value["chosen_id"] == "parent" and value["kept_parent"] and value["slot"] == -1


def test_a_better_candidate_wins_over_a_no_change():
    assert chosen("best_candidate", 0.5, ("no_change", None), ("applied", 0.75))["slot"] == 1


def test_an_edit_that_failed_is_never_chosen():
    value = chosen("best_candidate", 0.5, ("search_not_found", None), ("applied", 0.25))
    assert value["slot"] == 1 and not value["kept_parent"]


def test_when_every_edit_failed_the_parent_stays():
    assert chosen("best_candidate", 0.5, ("search_not_found", None))["kept_parent"]


def test_the_round_is_told_for_later_reports():
    history = chosen("strict_improvement", 0.5, ("applied", 0.75), ("no_change", None))["history"]
    assert history["chosen_slot"] == 0 and [e["outcome"] for e in history["edits"]] == ["applied", "no_change"]


def test_the_slot_stands_in_the_row():
    """selections.slot was NULL in every row: select left it out, and rounds.chosen_slot with it."""
    assert rows("strict_improvement", 0.5, ("applied", 0.25), ("applied", 0.75))[0]["slot"] == 1
    assert rows("strict_improvement", 0.5, ("applied", 0.25))[0]["slot"] == -1
