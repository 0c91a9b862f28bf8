"""The domain spreadsheet: the 50 real tasks, published layouts, authored jobs, and how outputs are graded."""

import json
from functools import cache

import pytest

pytest.importorskip("openpyxl", reason="the extra `sheets` is not installed")

from hbench.core.failure import Failure, GradeFailure, HbenchError, StepError
from hbench.core.recalculation import FOLDER
from hbench.core.trajectory import Work
from hbench.parts.domains._sheet_jobs import JOBS
from hbench.parts.domains._sheet_questions import UNSETTLED, UNTOUCHED
from hbench.parts.domains._sheet_tasks import find_folder
from hbench.parts.part import build
from hbench.steps.split import split
from tests.parts.domains.workbooks import made
from tests.where import cases, data

FORMULAS = {"208-20"}  # written by openpyxl: no formula of its answers has a value


def spreadsheet(**fields):
    return build("domains", {"kind": "spreadsheet", **fields})


@cache
def real():
    """(source, task id -> task, task id -> question) of the 50 tasks; read once for all tests."""
    domain = spreadsheet(source=str(data() / "spreadsheet"))
    source = find_folder(domain.source)
    return source, {task.id: task for task in source.tasks()}, {q.meta["task"]: q for q in domain.questions(0, 99, seed=1)}


def graded(question, files, **fields):
    return spreadsheet(**fields).grade_work(Work("Done.", files), question)


def outputs(task, which):
    """The output workbooks of a student who leaves the `answer`, or the `input`, of each case."""
    return {f"{case.number}_output.xlsx": real()[0].read(getattr(case, which)) for case in task.cases}


def test_gold_against_gold_passes_and_formulas_without_values_are_said_to_be_unknown():
    _, tasks, questions = real()
    assert len(questions) == 50 and {name for name, q in questions.items() if q.meta["unsettled"]} == FORMULAS
    for name in tasks.keys() - FORMULAS:
        assert graded(questions[name], outputs(tasks[name], "answer")) == {"score": 1.0, "soft": 1.0}, name
    for name in FORMULAS:
        with pytest.raises(GradeFailure, match="unsettled_answer: case 1: the right answer has formulas without values"):
            graded(questions[name], outputs(tasks[name], "answer"))


def test_the_untouched_input_passes_in_twelve_cases_and_what_it_passes_whole_is_left_out():
    _, tasks, questions = real()
    untouched = {name: q.meta["untouched"] for name, q in questions.items() if q.meta["untouched"]}
    whole = {"CF_4909": [1, 2, 3], "570-43": [1, 2, 3], "CF_8276": [1, 2, 3]}
    assert untouched == {**whole, "193-42": [1, 2], "30468": [1]} and sum(map(len, untouched.values())) == 12
    reasons = {name: q.meta["left_out"] for name, q in questions.items() if "left_out" in q.meta}
    assert reasons == {**dict.fromkeys(whole, UNTOUCHED), **dict.fromkeys(FORMULAS, UNSETTLED)}


@pytest.mark.parametrize("name", ["193-42", "30468", "570-43", "39490"])
def test_a_student_who_does_nothing_is_graded_as_the_flags_say(name):
    _, tasks, questions = real()
    share = len(questions[name].meta["untouched"]) / 3
    assert graded(questions[name], outputs(tasks[name], "input")) == {"score": float(share == 1), "soft": share}


def test_inputs_lie_in_the_workspace_and_no_answer_does():
    source, tasks, questions = real()
    domain, question, task = spreadsheet(source=source.where), questions["193-42"], tasks["193-42"]
    assert domain.files(question) == {f"{case.number}_input.xlsx": source.read(case.input) for case in task.cases}
    assert domain.collected(question) == ("1_output.xlsx", "2_output.xlsx", "3_output.xlsx")
    assert question.text.startswith(task.instruction) and "Only 'Recon'!B2:C180 of an output workbook are read" in question.text
    assert "answer.xlsx" not in json.dumps([question.text, question.meta])


def test_the_order_is_the_seeds_and_ids_tell_the_domains_name_but_content_ids_do_not():
    source, _, questions = real()
    domain = spreadsheet(source=source.where, name="other")
    first = domain.questions(0, 3, seed=1)
    assert [q.meta["task"] for q in first] == list(questions)[:3] != [q.meta["task"] for q in domain.questions(0, 3, seed=2)]
    same = [questions[q.meta["task"]] for q in first]
    assert [q.content_id for q in first] == [q.content_id for q in same] and [q.id for q in first] != [q.id for q in same]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder of one's own, in which published layouts are laid out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "spreadsheet").mkdir(parents=True)
    return tmp_path / "data" / "spreadsheet"


def lay(folder, files, *rows):
    task = {"id": 7, "instruction": "Double A1 into B1. ", "answer_position": "B1", "spreadsheet_path": "spreadsheet/7"}
    (folder / "dataset.json").write_text(json.dumps([{**task, **row} for row in rows or ({},)]))
    (folder / "spreadsheet" / "7").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / "spreadsheet" / "7" / name).write_bytes(content)


BEFORE, AFTER = made({"A1": 2}), made({"A1": 2, "B1": 4})


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


COMPUTED = made({"A1": 2, "B1": "=A1*2"})


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


def test_an_input_that_has_changed_since_the_split_is_refused(double, folder):
    (folder / "spreadsheet" / "7" / "2_7_input.xlsx").write_bytes(AFTER)
    with pytest.raises(HbenchError, match="2_7_input.xlsx has changed since the questions were cut"):
        spreadsheet().files(double)


def test_a_task_whose_position_cannot_be_read_is_left_out_with_the_reason(folder):
    lay(folder, {"1_7_input.xlsx": BEFORE, "1_7_answer.xlsx": AFTER}, {"answer_position": "Gone!B1"})
    (question,) = spreadsheet().questions(0, 9, 0)
    assert question.meta["left_out"] == "its workbooks cannot be graded: no sheet 'Gone' in the answer's workbook"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answer_position": None}, "row 1: not a task"),
        ({"spreadsheet_path": "spreadsheet/9"}, "task 7 lacks its workbooks"),
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


AUTHORED = spreadsheet(source="authored")


@cache
def jobs():
    return AUTHORED.questions(0, 2 * len(JOBS), seed=4)


def test_authored_jobs_come_in_turn_with_three_cases_each_and_are_the_same_every_time():
    assert [q.meta["task"].split("-")[0] for q in jobs()] == list(JOBS) * 2
    assert all(len(q.answer["cases"]) == 3 and not q.meta["unsettled"] for q in jobs())
    assert AUTHORED.questions(3, 5, seed=4) == jobs()[3:5] != AUTHORED.questions(3, 5, seed=5)
    assert AUTHORED.files(jobs()[2]) == AUTHORED.files(jobs()[2])


def test_an_authored_job_is_right_when_it_is_done_and_nothing_is_right_without_work():
    source = AUTHORED._source()
    for place, question in enumerate(jobs()):
        task = source.task(place, 4)
        done = {f"{case.number}_output.xlsx": source.read(case.answer) for case in task.cases}
        undone = {name.replace("input", "output"): content for name, content in AUTHORED.files(question).items()}
        assert graded(question, done) == {"score": 1.0, "soft": 1.0}, question.text
        assert graded(question, undone)["score"] == 0.0 or question.meta["untouched"] == [1, 2, 3], question.text
        assert graded(question, {})["soft"] == 0.0


class Formulas:
    """Services of a machine without LibreOffice."""

    def recalculate(self, workbooks):
        raise StepError("formulas without values need LibreOffice")


def cut(domain, **sizes):
    params = {"domain": domain.to_json(), "role": "training", "sizes": sizes, "seed": 1}
    return split(params, {}, Formulas()).value["questions"]


def test_a_split_passes_over_what_is_left_out_and_stops_where_libreoffice_is_wanted_and_missing():
    source = real()[0].where
    never = spreadsheet(source=source, recalculate="never")
    assert len(cut(never, training=20, evaluation=26)) == 20
    with pytest.raises(StepError, match="1 left out .a formula without a value decides., 3 left out .the untouched input"):
        cut(never, training=20, evaluation=30)
    with pytest.raises(StepError, match="need LibreOffice"):
        cut(spreadsheet(source=source), training=20, evaluation=30)
    kept = spreadsheet(source=source, recalculate="never", untouched="keep")
    assert len(cut(kept, training=20, evaluation=29)) == 20
