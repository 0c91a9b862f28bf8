"""Spreadsheet tasks as folders hold them: published layouts, cases, inputs that pass untouched, and what is broken."""

import json

import pytest

pytest.importorskip("openpyxl", reason="the extra `sheets` is not installed")

from hbench.core.failure import HbenchError, StepError
from hbench.parts.domains._sheet_questions import UNTOUCHED
from hbench.parts.domains._sheet_tasks import find_folder
from tests.parts.domains.sheet_tasks import AFTER, BEFORE, COMPUTED, cut, lay, spreadsheet
from tests.where import cases


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        ([("1_7_input.xlsx", "1_7_answer.xlsx"), ("2_7_input.xlsx", "2_7_answer.xlsx")], [1, 2]),
        ([("1_7_init.xlsx", "1_7_golden.xlsx")], [1]),
        ([("initial.xlsx", "golden.xlsx")], [1]),
        ([("1_7_init.xlsx", "1_8_golden.xlsx")], [1]),  # as one of the verified tasks is misspelt
    ],
)
def test_published_layouts_are_read(folder, names, numbers):
    lay(folder, {name: content for pair in names for name, content in zip(pair, (BEFORE, AFTER))})
    (question,) = spreadsheet().questions(0, 9, 0)
    assert [case["case"] for case in question.answer["cases"]] == numbers
    assert question.answer["cases"][0]["cells"] == {"'Sheet1'!B1": 4.0}
    assert spreadsheet().versions()["tasks"] != "absent"


def test_the_first_case_alone_can_be_asked(folder):
    lay(folder, {f"{n}_7_{kind}.xlsx": content for n in (1, 2) for kind, content in (("input", BEFORE), ("answer", AFTER))})
    (question,) = spreadsheet(cases="first").questions(0, 9, 0)
    assert spreadsheet(cases="first").collected(question) == ("1_output.xlsx",)
    assert "The workbook is 1_input.xlsx. Save the finished one as 1_output.xlsx." in question.text
    assert "Only 'Sheet1'!B1 of an output workbook is read" in question.text


def test_shared_case_of_an_input_that_passes_untouched(folder):
    """Flagged, and not counted unless a spec wants it."""
    shared = cases() / "123-untouched-input-passes"
    lay(folder, {"1_7_input.xlsx": (shared / "input.xlsx").read_bytes(), "1_7_answer.xlsx": (shared / "gold.xlsx").read_bytes()},
        {"answer_position": json.loads((shared / "expected.json").read_text())["range"]})  # fmt: skip
    (question,) = spreadsheet().questions(0, 9, 0)
    assert (question.meta["untouched"], question.meta["left_out"]) == ([1], UNTOUCHED)
    with pytest.raises(StepError, match="1 left out .the untouched input passes."):
        cut(spreadsheet(), training=1)
    (kept,) = cut(spreadsheet(untouched="keep"), training=1)
    assert kept["meta"]["untouched"] == [1] and "left_out" not in kept["meta"]


def test_an_input_that_has_changed_since_the_split_is_refused(folder):
    lay(folder, {f"{n}_7_{kind}.xlsx": content for n in (1, 2) for kind, content in (("input", BEFORE), ("answer", AFTER))})
    (question,) = spreadsheet().questions(0, 9, 0)
    (folder / "spreadsheet" / "7" / "2_7_input.xlsx").write_bytes(AFTER)
    with pytest.raises(HbenchError, match="2_7_input.xlsx has changed since the questions were cut"):
        spreadsheet().files(question)


def test_a_task_whose_position_cannot_be_read_is_left_out_with_the_reason(folder):
    lay(folder, {"1_7_input.xlsx": BEFORE, "1_7_answer.xlsx": AFTER}, {"answer_position": "Gone!B1"})
    (question,) = spreadsheet().questions(0, 9, 0)
    assert question.meta["left_out"] == "its workbooks cannot be graded: no sheet 'Gone' in the answer's workbook"


@pytest.mark.attack
@pytest.mark.parametrize(
    "row",
    [
        {"cases": [{"case": 1, "input": "../../before.xlsx", "answer": "spreadsheet/7/1_7_answer.xlsx"}]},
        {"cases": [{"case": 1, "input": "{}/before.xlsx", "answer": "spreadsheet/7/1_7_answer.xlsx"}]},
        {"spreadsheet_path": "../spreadsheet/spreadsheet/7"},
    ],
)
def test_a_workbook_outside_of_its_folder_is_refused(folder, tmp_path, row):
    """It was laid into workspaces: a folder of tasks of somebody else's could send models what lies anywhere."""
    (tmp_path / "before.xlsx").write_bytes(BEFORE)
    lay(folder, {"1_7_input.xlsx": BEFORE, "1_7_answer.xlsx": AFTER}, json.loads(json.dumps(row).replace("{}", str(tmp_path))))
    named = row["cases"][0]["input"].format(tmp_path) if "cases" in row else row["spreadsheet_path"] + "/1_7_input.xlsx"
    assert (folder / named).read_bytes() == BEFORE  # the control: it is there
    with pytest.raises(HbenchError, match="task 7 names a workbook outside of its folder"):
        spreadsheet().questions(0, 1, 0)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answer_position": None}, "row 1: not a task"),
        ({"spreadsheet_path": "spreadsheet/9"}, "task 7 lacks its workbooks"),
        ({"cases": [{"case": "one", "input": "a.xlsx", "answer": "b.xlsx"}]}, "row 1: not a task"),
    ],
)
def test_a_broken_index_is_named_with_the_row(folder, row, message):
    lay(folder, {"1_7_input.xlsx": BEFORE, "1_7_answer.xlsx": AFTER}, row)
    with pytest.raises(HbenchError, match=message):
        spreadsheet().questions(0, 1, 0)


def test_without_tasks_a_plan_can_be_made_and_the_message_says_how_to_get_them(folder):
    assert spreadsheet().versions()["tasks"] == "absent"
    with pytest.raises(HbenchError, match="unpack SpreadsheetBench .*or set domain.source: authored"):
        spreadsheet().questions(0, 1, 0)


def test_another_workbook_makes_another_digest(folder, monkeypatch):
    lay(folder, {"1_7_input.xlsx": BEFORE, "1_7_answer.xlsx": AFTER})
    before = find_folder(None).digest
    (folder / "spreadsheet" / "7" / "1_7_answer.xlsx").write_bytes(COMPUTED)
    monkeypatch.setattr("time.monotonic", lambda: 1e9)
    assert find_folder(None).digest != before
