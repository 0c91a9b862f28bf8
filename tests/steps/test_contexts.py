"""Edit contexts: reports and parents in order; a parent that does not exist is left out and counted."""

import pytest

from hbench.core.harness import Harness
from hbench.steps.contexts import contexts
from hbench.steps.harness import harness_value
from tests.steps.stage import Stage, questions, setting, value
from tests.world import HARNESS

PARENT, STRONGER = (harness_value(Harness.of(text)) for text in (HARNESS, "def run(question, tools):\n    return '1'\n"))


def entry(family="toy", chain=0, parent="seed", depth=0):
    return {"family": family, "description": f"About {family}.", "chain": chain, "depth": depth, "parent": parent}


def report(harness=PARENT, text="Score 0."):
    return value({"text": text if harness else None, "harness": harness})


def test_each_report_becomes_a_context_with_its_parent():
    reports = {"report_0": report(), "report_1": report(STRONGER, "Half.")}
    made = contexts({"entries": [entry("a"), entry("b", 1)]}, reports, None)
    first, second = made.value["contexts"]
    assert (first["family"], first["description"], first["report"]) == ("a", "About a.", "Score 0.")
    assert first["harness"] == PARENT
    assert (second["position"], second["chain"], second["harness"]["id"]) == (1, 1, STRONGER["id"])


def test_rows_name_the_report_that_was_read():
    told = report()
    (row,) = contexts({"entries": [entry()]}, {"report_0": told}, None).rows["edit_contexts"]
    assert row["report_key"] == told.key and row["harness_id"] == PARENT["id"] and row["from_candidate"] is None


def test_a_parent_that_does_not_exist_is_left_out_and_counted():
    entries = [entry(), entry(chain=1, parent="stronger"), entry("b", 2)]
    made = contexts({"entries": entries}, {"report_0": report(), "report_1": report(None), "report_2": report()}, None)
    assert [(one["position"], one["entry"]) for one in made.value["contexts"]] == [(0, 0), (1, 2)]
    assert made.value["dropped"] == 1 and made.value["entries"] == 3 and made.value["families"] == ["toy", "b"]
    assert [row["position"] for row in made.rows["edit_contexts"]] == [0, 1]


def test_a_carried_parent_is_told_by_the_candidate_that_made_it():
    origin = value({"harness": STRONGER, "from_step_key": "k" * 64, "from_candidate": 17, "history": {}})
    made = contexts({"entries": [entry(parent="carried", depth=1)]}, {"report_0": report(STRONGER), "from_0": origin}, None)
    (row,) = made.rows["edit_contexts"]
    assert (row["from_step_key"], row["from_candidate"], row["depth"]) == ("k" * 64, 17, 1)


@pytest.mark.parametrize("harness", [PARENT, None])
def test_a_report_of_no_harness_is_none(tmp_path, harness):
    from hbench.steps.report import report as report_step
    from tests.steps.stage import REPORT

    stage = Stage(tmp_path)
    try:
        solver = stage.records("solver", {"reply": "1"})
        asked = questions(2)
        run = stage.run("evaluate", setting(solver), {"harness": value(harness), "questions": asked})
        params = {**REPORT, "family": setting(solver)["family"]}
        told = report_step(params, {"evaluated": run, "questions": asked}, None).value
        assert (told["text"] is None) == (told["harness"] is None) == (harness is None)
    finally:
        stage.close()
