"""Selection rules, with the shared cases 97, 138 and 140."""

import csv
import json

import pytest

from hbench.core.scored import Scored
from hbench.parts.part import build
from hbench.parts.selections._ranking import best, ranking
from hbench.parts.selections.best_candidate import BestCandidate
from hbench.parts.selections.best_or_parent import BestOrParent
from hbench.parts.selections.pareto import Pareto
from hbench.parts.selections.strict_improvement import StrictImprovement
from tests.where import cases

RULES = [StrictImprovement(), BestCandidate(), BestOrParent(), Pareto()]
FORTY = frozenset(str(i) for i in range(40))


def scored(name: str, score: float | None, position: int = 0, questions: frozenset[str] = FORTY) -> Scored:
    return Scored(name, score, questions, position)


def chosen(rule, parent: Scored, *candidates: Scored) -> str:
    return rule.select(parent, candidates).name


def test_a_strictly_better_candidate_is_adopted():
    for rule in RULES:
        assert chosen(rule, scored("parent", 0.5, -1), scored("a", 0.6)) == "a"


def test_a_tie_keeps_the_parent():
    for rule in (StrictImprovement(), BestOrParent(), Pareto()):
        assert chosen(rule, scored("parent", 0.5, -1), scored("a", 0.5)) == "parent"


def test_best_candidate_may_fall_below_the_parent():
    assert chosen(BestCandidate(), scored("parent", 0.5, -1), scored("a", 0.1), scored("b", 0.3, 1)) == "b"


def test_equal_candidates_go_to_the_earliest_whatever_the_order_of_the_list():
    late, early = scored("late", 0.7, 3), scored("early", 0.7, 1)
    for rule in RULES:
        assert chosen(rule, scored("parent", 0.5, -1), late, early) == "early"


def test_a_failed_edit_is_never_chosen():
    for rule in RULES:
        assert chosen(rule, scored("parent", 0.0, -1), scored("failed", None)) == "parent"
        assert chosen(rule, scored("parent", 0.5, -1), scored("failed", None), scored("a", 0.9, 1)) == "a"


def test_a_score_on_other_questions_is_never_compared():
    few = frozenset(list(FORTY)[:10])
    for rule in RULES:
        assert chosen(rule, scored("parent", 0.5, -1), scored("lucky", 1.0, 0, few)) == "parent"


def test_a_parent_that_did_not_run_gives_way_to_any_candidate_that_did():
    for rule in RULES:
        assert chosen(rule, scored("parent", None, -1, frozenset()), scored("a", 0.0)) == "a"


def test_no_candidates_keep_the_parent():
    for rule in RULES:
        assert chosen(rule, scored("parent", 0.5, -1)) == "parent"


def test_rescore_is_a_field_of_strict_improvement_and_is_hashed():
    assert StrictImprovement(rescore="fresh").to_json()["rescore"] == "fresh"
    with pytest.raises(ValueError):
        StrictImprovement(rescore="never")


def test_a_rule_is_built_from_its_block():
    assert build("selections", BestCandidate().to_json()) == BestCandidate()


def test_case_97_unscored_stands_last_and_ties_go_to_the_older():
    rows = list(csv.DictReader((cases() / "97-null-and-ties-in-ranking/rows.csv").open()))
    harnesses = [scored(r["candidate"], float(r["score"]) if r["score"] else None, int(r["created"])) for r in rows]
    expected = json.loads((cases() / "97-null-and-ties-in-ranking/expected.json").read_text())
    assert [h.name for h in ranking(harnesses)] == expected["ranking"] + expected["not_scored"]


def test_case_138_a_failed_candidate_stands_below_every_one_that_ran():
    rows = json.loads((cases() / "138-failed-above-poor/candidates.json").read_text())
    expected = json.loads((cases() / "138-failed-above-poor/expected.json").read_text())
    harnesses = [scored(row["id"], row["score"], i) for i, row in enumerate(rows)]
    assert [h.name for h in ranking(harnesses)] == expected["ranking"]
    assert best(scored("parent", -9.0, -1), harnesses).name == expected["best"]


def test_case_140_a_tie_and_a_score_on_a_subset_keep_the_parent():
    rows = json.loads((cases() / "140-ties-and-no-gain/candidates.json").read_text())
    sets = [frozenset(str(i) for i in range(row["n"])) for row in rows]
    harnesses = [scored(row["id"], row["score"], i - 1, q) for i, (row, q) in enumerate(zip(rows, sets, strict=True))]
    assert StrictImprovement().select(harnesses[0], harnesses[1:]).name == "parent"
    assert BestOrParent().select(harnesses[0], harnesses[1:]).name == "parent"


def costing(name: str, score: float, tokens: float, prompt_tokens: float = 0.0, position: int = 0) -> Scored:
    return Scored(name, score, FORTY, position, tokens=tokens, prompt_tokens=prompt_tokens)


def test_pareto_takes_the_cheaper_of_two_that_score_alike():
    assert chosen(Pareto(), costing("parent", 0.5, 900, position=-1), costing("a", 0.5, 300)) == "a"
    assert chosen(Pareto(), costing("parent", 0.5, 300, position=-1), costing("a", 0.5, 900)) == "parent"


def test_pareto_gives_up_no_more_score_than_its_margin():
    parent, cheap = costing("parent", 0.7, 900, position=-1), costing("cheap", 0.6, 100)
    assert chosen(Pareto(), parent, cheap) == "parent"
    assert chosen(Pareto(margin=0.1), parent, cheap) == "cheap"


def test_pareto_counts_prompt_tokens_by_their_weight():
    parent, asks_much = costing("parent", 0.5, 400, 0, -1), costing("asks_much", 0.5, 100, 1000)
    assert chosen(Pareto(), parent, asks_much) == "parent"
    assert chosen(Pareto(prompt_weight=0.2), parent, asks_much) == "asks_much"


def test_what_pareto_takes_is_never_worse_in_both():
    """Of two within the margin that cost the same, the one that scores more."""
    candidates = [costing("low", 0.65, 100), costing("high", 0.7, 100, position=1)]
    assert chosen(Pareto(margin=0.1), costing("parent", 0.7, 900, position=-1), *candidates) == "high"
