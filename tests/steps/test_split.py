import json

import pytest

from hbench.core.failure import StepError
from hbench.core.question import Question
from hbench.steps.split import check_disjoint, split
from tests.where import cases

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


def test_a_round_draws_new_questions_and_never_new_held_out_ones():
    rounds = [set(contents("feedback", round=t)) | set(contents("scoring", round=t)) for t in range(4)]
    assert all(len(drawn) == 7 for drawn in rounds) and len(set.union(*rounds)) == 28
    assert not set.union(*rounds) & set(contents("evaluation"))
    assert contents("evaluation", round=3) == contents("evaluation")


def test_rounds_come_back_to_the_start_of_a_small_pool():
    finite = {"distinct": 16, "pool": 16}
    rounds = [set(contents("feedback", finite, round=t)) | set(contents("scoring", finite, round=t)) for t in range(4)]
    assert all(len(drawn) == 7 for drawn in rounds) and len(set.union(*rounds)) == 10
    assert not set.union(*rounds) & set(contents("evaluation", finite))


def test_a_question_whose_own_answer_fails_is_never_used(monkeypatch):
    """Case 115's kind: a gold answer that the scorer does not accept would score every right answer 0."""
    from hbench.parts.families.toy import Toy

    def draw(self, start, stop, seed):
        return [Question.of("toy", str(i), "1", i, {"gold_score": float(i % 2)}, i) for i in range(start, stop)]

    monkeypatch.setattr(Toy, "questions", draw)
    drawn = cut("evaluation", {"ask": "sum"}).value["questions"]
    assert [q["pool_index"] % 2 for q in drawn] == [1] * 6


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
