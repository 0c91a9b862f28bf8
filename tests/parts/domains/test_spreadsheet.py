"""The domain spreadsheet: how outputs are graded, and right answers that are formulas."""

import pytest

pytest.importorskip("openpyxl", reason="the extra `sheets` is not installed")

from hbench.core.failure import Failure, GradeFailure
from hbench.core.recalculation import FOLDER
from hbench.parts.domains._sheet_questions import UNSETTLED
from tests.parts.domains.sheet_tasks import AFTER, BEFORE, COMPUTED, graded, lay, spreadsheet
from tests.parts.domains.workbooks import made


@pytest.fixture
def double(folder):
    """A question with three cases, of which each wants 4.0 in B1."""
    lay(folder, {f"{n}_7_{kind}.xlsx": content for n in (1, 2, 3) for kind, content in (("input", BEFORE), ("answer", AFTER))})
    return spreadsheet().questions(0, 9, 0)[0]


@pytest.mark.parametrize(
    ("left", "soft"),
    [
        ([AFTER, AFTER, AFTER], 1.0),
        ([AFTER, made({"B1": 4.004, "Z9": "mine"}), AFTER], 1.0),  # other cells and the third decimal do not count
        ([AFTER, made({"B1": "4"}), AFTER], 1.0),
        ([AFTER, BEFORE, AFTER], 2 / 3),
        ([AFTER, None, AFTER], 2 / 3),
        ([AFTER, b"no workbook", AFTER], 2 / 3),
        ([AFTER, made({"B1": 4}, sheet="Other"), AFTER], 2 / 3),
        ([AFTER, made({"B1": 4}, sheet="sheet1 "), AFTER], 1.0),
        ([AFTER, made({"A1": "=B1", "B1": 5}), AFTER], 2 / 3),
    ],
)
def test_soft_is_the_share_of_right_outputs_and_score_is_all_of_them(double, left, soft):
    files = {f"{n}_output.xlsx": content for n, content in enumerate(left, start=1) if content is not None}
    assert graded(double, files) == pytest.approx({"score": float(soft == 1.0), "soft": soft})


def test_a_formula_that_decides_is_a_named_failure_without_a_recalculated_copy_and_its_value_with_one(double):
    files = {"1_output.xlsx": AFTER, "2_output.xlsx": COMPUTED, "3_output.xlsx": AFTER}
    with pytest.raises(GradeFailure, match="2_output.xlsx: 1 formulas without a value, the first in 'Sheet1'!B1") as none:
        graded(double, files)
    assert none.value.kind == "uncached_formula"
    assert graded(double, {**files, FOLDER + "2_output.xlsx": AFTER})["score"] == 1.0
    assert graded(double, {**files, FOLDER + "2_output.xlsx": made({"B1": 5})})["soft"] == pytest.approx(2 / 3)
    with pytest.raises(GradeFailure, match="uncached_formula"):
        graded(double, {**files, FOLDER + "2_output.xlsx": COMPUTED})


def test_a_formula_that_decides_nothing_needs_no_value(double):
    """Another cell of the case is wrong already, or the formula stands elsewhere."""
    elsewhere = made({"B1": 4, "C1": "=B1"})
    assert graded(double, {f"{n}_output.xlsx": elsewhere for n in (1, 2, 3)})["score"] == 1.0


def test_right_answers_that_are_formulas_are_settled_before_they_are_asked(folder):
    lay(folder, {"1_7_input.xlsx": BEFORE, "1_7_answer.xlsx": COMPUTED})
    (asked,) = spreadsheet().questions(0, 9, 0)
    assert (asked.meta["unsettled"], asked.meta["left_out"]) == ([1], UNSETTLED)
    given = []

    def recalculate(files):
        given.append(sorted(files))
        return dict.fromkeys(files, AFTER)

    (settled,) = spreadsheet().settled([asked], recalculate)
    assert given == [["spreadsheet/7/1_7_answer.xlsx", "spreadsheet/7/1_7_input.xlsx"]]
    assert settled.answer["cases"][0]["cells"] == {"'Sheet1'!B1": 4.0} and "left_out" not in settled.meta
    assert settled.content_id == asked.content_id
    never = spreadsheet(recalculate="never")
    assert never.settled([asked], recalculate) == [asked] and "cells must hold values" in never.questions(0, 1, 0)[0].text


def test_a_workbook_that_cannot_be_recalculated_leaves_out_its_own_task_alone(folder):
    lay(folder, {"1_7_input.xlsx": BEFORE, "1_7_answer.xlsx": COMPUTED}, {"id": 7}, {"id": 8, "instruction": "Again."})
    asked = spreadsheet().questions(0, 9, 0)
    calls = []

    def recalculate(files):
        calls.append(len(files))
        return Failure("grader", "recalculation", "no") if len(calls) == 1 + 1 or len(calls) == 1 else dict.fromkeys(files, AFTER)

    settled = spreadsheet().settled(asked, recalculate)
    assert calls == [2, 2, 2] and ["left_out" in q.meta for q in settled] == [False, False]
