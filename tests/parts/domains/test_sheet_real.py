"""The 50 real tasks of SpreadsheetBench: gold passes, doing nothing passes where it is flagged, splits pass those over."""

import json
from functools import cache

import pytest

pytest.importorskip("openpyxl", reason="the extra `sheets` is not installed")

from hbench.core.failure import GradeFailure, StepError
from hbench.parts.domains._sheet_questions import UNSETTLED, UNTOUCHED
from hbench.parts.domains._sheet_tasks import find_folder
from tests.parts.domains.sheet_tasks import cut, graded, spreadsheet
from tests.where import data

FORMULAS = {"208-20"}  # written by openpyxl: no formula of its answers has a value


@cache
def real():
    """(source, task id -> task, task id -> question) of the 50 tasks; read once for all tests."""
    domain = spreadsheet(source=str(data() / "spreadsheet"))
    source = find_folder(domain.source)
    return source, {task.id: task for task in source.tasks()}, {q.meta["task"]: q for q in domain.questions(0, 99, seed=1)}


def outputs(task, which):
    """The output workbooks of a student who leaves the `answer`, or the `input`, of each case."""
    return {f"{case.number}_output.xlsx": real()[0].read(getattr(case, which)) for case in task.cases}


@pytest.mark.slow
def test_gold_against_gold_passes_and_formulas_without_values_are_said_to_be_unknown():
    _, tasks, questions = real()
    assert len(questions) == 50 and {name for name, q in questions.items() if q.meta["unsettled"]} == FORMULAS
    for name in tasks.keys() - FORMULAS:
        assert graded(questions[name], outputs(tasks[name], "answer")) == {"score": 1.0, "soft": 1.0}, name
    for name in FORMULAS:
        with pytest.raises(GradeFailure, match="unsettled_answer: case 1: the right answer has formulas without values"):
            graded(questions[name], outputs(tasks[name], "answer"))


@pytest.mark.slow
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
