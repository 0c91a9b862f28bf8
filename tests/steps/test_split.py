import json

import pytest

from hbench.core.failure import StepError
from hbench.core.question import Question
from hbench.steps.split import check_disjoint, split
from tests.where import cases

pytestmark = pytest.mark.truth
SIZES = {"evaluation": 6, "scoring": 4, "feedback": 3}


def cut(role, family=None, sizes=SIZES, **more):
    block = {"kind": "toy", "name": f"toy of {json.dumps(family)}", **(family or {})}
    params = {"family": block, "role": role, "sizes": sizes, "seed": 7, "allow_fewer": False, **more}
    return split(params, {}, None)


def contents(role, *args, **more):
    return [q["content_id"] for q in cut(role, *args, **more).value["questions"]]


def test_roles_share_no_question():
    roles = [set(contents(role)) for role in SIZES]
    assert [len(role) for role in roles] == [6, 4, 3]
    assert len(set.union(*roles)) == 13


def test_held_out_questions_stay_when_the_other_sizes_change():
    others = {**SIZES, "feedback": 50, "scoring": "same_as_feedback"}
    assert contents("evaluation") == contents("evaluation", sizes=others)


def test_scoring_may_be_the_feedback_questions():
    sizes = {**SIZES, "scoring": "same_as_feedback"}
    assert contents("scoring", sizes=sizes) == contents("feedback", sizes=sizes)
    assert cut("scoring", sizes=sizes).value["asked"] == 3


def test_duplicates_are_passed_over():
    assert len(set(contents("evaluation", {"distinct": 13}))) == 6


def test_a_pool_that_cannot_fill_the_splits_is_an_error_with_the_counts():
    with pytest.raises(StepError, match=r"toy of .*: 9 different questions found, 13 wanted .*allow_fewer: true"):
        cut("feedback", {"distinct": 9})


def test_allow_fewer_makes_every_split_smaller_and_says_so():
    got = {role: cut(role, {"distinct": 9}, allow_fewer=True).value for role in SIZES}
    assert {role: value["asked"] for role, value in got.items()} == SIZES
    assert all(1 <= value["got"] == len(value["questions"]) <= SIZES[role] for role, value in got.items())
    assert 7 <= sum(value["got"] for value in got.values()) <= 9


def test_allow_fewer_cannot_leave_a_split_empty():
    with pytest.raises(StepError, match="2 different questions found"):
        cut("feedback", {"distinct": 2}, allow_fewer=True)


def test_a_smaller_pool_gives_the_same_whatever_was_walked_before():
    """A walk is shared by all splits of its pool: one that looks further must not lend its finds to the others."""
    family, sizes = {"pool": 100_000, "distinct": 400}, {"evaluation": 3, "scoring": 0, "feedback": 2}
    before = contents("feedback", family, sizes)
    contents("feedback", family, {"evaluation": 200, "scoring": 0, "feedback": 100})
    assert contents("feedback", family, sizes) == before


def draw(t, part=0, parts=1, chain=0):
    return {"round": [chain, t], "part": part, "parts": parts}


def drawn(t, family=None, parts=1, chain=0):
    """Scoring questions of a round, and the feedback questions of each of its reports."""
    feedback = [contents("feedback", family, draw=draw(t, part, parts, chain)) for part in range(parts)]
    return [contents("scoring", family, draw=draw(t, 0, parts, chain)), *feedback]


def test_each_round_is_drawn_anew_and_never_from_the_held_out_questions():
    rounds = [frozenset(q for role in drawn(t) for q in role) for t in range(6)]
    assert all(len(questions) == 7 for questions in rounds) and len(set(rounds)) == 6
    assert not set.union(*map(set, rounds)) & set(contents("evaluation"))
    assert drawn(3) == drawn(3) and drawn(3) != drawn(3, chain=1)


def test_rounds_of_a_small_pool_differ_though_questions_come_again():
    """A walk round the pool gave the same 70 of 70 questions, or two sets in turn, in all ten rounds."""
    finite = {"distinct": 20, "pool": 20}
    rounds = [frozenset(q for role in drawn(t, finite) for q in role) for t in range(8)]
    assert len(set(rounds)) >= 7 and len(set.union(*map(set, rounds))) == 14
    assert not set.union(*map(set, rounds)) & set(contents("evaluation", finite))


def test_the_reports_of_one_round_share_no_question_with_each_other_or_with_its_scoring():
    """With four reports on a small pool, 12 scoring questions were feedback questions of another report."""
    finite = {"distinct": 22, "pool": 22}
    roles = drawn(0, finite, parts=4)
    assert [len(role) for role in roles] == [4, 3, 3, 3, 3]
    assert len({q for role in roles for q in role}) == 16


def test_a_pool_too_small_for_all_reports_of_a_round_is_an_error():
    with pytest.raises(StepError, match="20 different questions found, 22 wanted"):
        cut("feedback", {"distinct": 20, "pool": 20}, draw=draw(0, 0, 4))


def test_a_question_whose_own_answer_fails_is_never_used(monkeypatch):
    """Case 115's kind: a gold answer that the scorer does not accept would score every right answer 0."""
    from hbench.parts.families.toy import Toy

    def draw(self, start, stop, seed):
        return [Question.of("toy", str(i), "1", i, {"gold_score": float(i % 2)}, i) for i in range(start, stop)]

    monkeypatch.setattr(Toy, "questions", draw)
    drawn = cut("evaluation", {"ask": "sum"}).value["questions"]
    assert [q["pool_index"] % 2 for q in drawn] == [1] * 6


def domain_cut(role, sizes, **block):
    params = {"domain": {"kind": "toy", **block}, "role": role, "sizes": sizes, "seed": 7}
    return split({"allow_fewer": False, **params}, {}, None).value


def test_a_domains_training_questions_are_none_that_are_held_out():
    sizes = {"training": 30, "evaluation": 20}
    training, held_out = (domain_cut(role, sizes) for role in sizes)
    assert (training["role"], training["family"], training["got"], held_out["got"]) == ("training", "toy", 30, 20)
    assert not {q["content_id"] for q in training["questions"]} & {q["content_id"] for q in held_out["questions"]}
    assert held_out == domain_cut("evaluation", {"training": 3, "evaluation": 20})


def test_a_domain_with_too_few_questions_gives_smaller_splits_where_that_is_allowed():
    """A feedback question that nobody asked for took the place of a training question."""
    sizes = {"training": 30, "evaluation": 20}
    with pytest.raises(StepError, match="domain small: 10 walked.*10 different questions found, 50 wanted"):
        domain_cut("training", sizes, name="small", pool=10)
    params = {"domain": {"kind": "toy", "name": "small", "pool": 10}, "sizes": sizes, "seed": 7, "allow_fewer": True}
    got = {role: split({**params, "role": role}, {}, None).value["got"] for role in sizes}
    assert got == {"training": 5, "evaluation": 4}


def test_a_family_and_a_domain_of_one_name_have_pools_of_their_own():
    assert {q["text"] for q in domain_cut("training", {"training": 2, "evaluation": 2})["questions"]}.isdisjoint(
        q["text"] for q in cut("feedback", {"name": "toy"}, {"evaluation": 2, "feedback": 2}).value["questions"]
    )


def test_case_142_c_roles_that_share_questions_are_refused_with_their_ids():
    case = cases() / "142-select-and-report-same-split"
    roles = json.loads((case / "candidates.json").read_text())["C"]
    expected = json.loads((case / "expected.json").read_text())["C"]
    made = {role: [Question("", f"#{i}", "", "", None) for i in ids] for role, ids in roles.items()}
    with pytest.raises(StepError) as told:
        check_disjoint(made)
    assert all(f"#{i}" in str(told.value) for i in expected["ids"]) and "#9" not in str(told.value)


def test_rows_name_every_question_in_its_order():
    output = cut("feedback")
    ids = [question["id"] for question in output.value["questions"]]
    assert [[row["question_id"] for row in output.rows[table]] for table in ("questions", "split_questions")] == [ids, ids]
