"""Demonstrations: asked in turn, tried beside their parents, each harness once; a try after a kill runs what is missing."""

import pytest

from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.prompt import load_prompt
from hbench.steps.harness import harness_value
from tests.steps.stage import EDIT, PROMPT, TERMS, TOY, Stage, context, contexts_value, questions, setting
from tests.world import ASKS_TWICE, HARNESS, MISSES, PROSE, SOLVES

PARENT = harness_value(Harness.of(HARNESS).tidied())
PROMPTS = [PROMPT, load_prompt("proposer/search_replace_tools").to_json()]


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.close()


def params(stage, replies, **changed):
    solver = stage.records("solver", {"reply": "7"})
    teacher = stage.records("teacher", {"reply": replies} if isinstance(replies, (str, list)) else replies)
    run = setting(solver, **changed.pop("run", {}))
    return {"teacher": teacher, "prompts": PROMPTS, "per_context": 4, "edit": EDIT, "seed": 3, "families": {"toy": run},
            "terms": TERMS, "no_change": "form_only", **changed}  # fmt: skip


def inputs(contexts=2, count=3):
    made = contexts_value(*(context(PARENT, i) for i in range(contexts)))
    return {"contexts": made, "questions_toy": questions(count)}


def shown(stage, replies, contexts=2, **changed):
    return stage.run("demonstrate", params(stage, replies, **changed), inputs(contexts))


def test_an_edit_that_solves_the_family_is_told_with_its_parents_score(stage):
    made = shown(stage, SOLVES, contexts=1, per_context=1)
    (one,) = made.value["demonstrations"]
    assert (one["candidate"], one["context"], one["prompt"], one["applied"]) == (0, 0, 0, True)
    assert (one["score"], one["parent_score"], one["completion_rate"]) == (1.0, 0.0, 1.0)
    assert one["response"] == SOLVES and one["finish_reason"] == "stop"


def test_an_edit_that_fails_scores_nothing(stage):
    made = shown(stage, [MISSES, PROSE])
    assert {one["score"] for one in made.value["demonstrations"]} == {None}
    assert not any(one["applied"] or one["harness_id"] for one in made.value["demonstrations"])
    terms = {(row["candidate"], row["term"]): row["value"] for row in made.rows("reward_terms")}
    assert len(terms) == 8 * 4 and terms[0, "task_score"] == 0.0


def test_prompts_are_asked_in_turn_and_each_edit_has_a_seed_of_its_own(stage):
    asked = []

    def ask(model, requests):
        asked.extend(requests)
        return ask_of_stage(model, requests)

    made_params = params(stage, PROSE)
    ask_of_stage = stage.services.of(None, "").ask
    made = stage.run("demonstrate", made_params, inputs(), ask=ask)
    assert [one["prompt"] for one in made.value["demonstrations"]] == [0, 1, 0, 1, 0, 1, 0, 1]
    assert len({request.seed for request in asked}) == 8
    assert asked[0].messages == asked[2].messages != asked[1].messages


def test_equal_harnesses_of_a_family_and_parents_are_run_once(stage):
    made = shown(stage, [SOLVES, ASKS_TWICE])
    rollouts = made.rows("rollouts")
    assert len(rollouts) == 3 * len({row["harness_id"] for row in rollouts}) == 3 * 3
    first = {one["harness_id"]: one["candidate"] for one in reversed(made.value["demonstrations"])}
    assert {row["candidate"] for row in rollouts} == {*first.values(), 10}, "the parent under a number past the last"
    assert len(made.rows("candidates")) == 8 and {row["role"] for row in made.rows("models")} == {"teacher", "solver"}


def test_a_try_after_a_kill_runs_only_what_is_missing(stage):
    made_params, made_inputs, ran = params(stage, [SOLVES, ASKS_TWICE]), inputs(), []

    class Stopped(Exception):
        pass

    def stopping(most):
        def run_harness(harness, questions, setting, done, skip=frozenset()):
            def heard(rollout):
                if len(ran) >= most:
                    raise Stopped
                done(rollout)
                ran.append((rollout.harness_id, rollout.question_id))

            stage.services.of(None, "").run_harness(harness, questions, setting, heard, skip)

        return run_harness

    with pytest.raises(Stopped):
        stage.run("demonstrate", made_params, made_inputs, run_harness=stopping(4))
    made = stage.run("demonstrate", made_params, made_inputs, run_harness=stopping(99))
    assert len(ran) == len(set(ran)) == len(made.rows("rollouts")) == 9
    assert {one["score"] for one in made.value["demonstrations"]} == {0.0, 1.0}


def test_families_are_each_run_as_they_are(stage):
    made_params = params(stage, SOLVES, per_context=1)
    other = {**TOY, "name": "other", "ask": "copy"}
    made_params["families"]["other"] = setting(made_params["families"]["toy"]["solver"], other)
    made_inputs = {"contexts": contexts_value(context(PARENT), context(PARENT, 1, family="other")),
                   "questions_toy": questions(3), "questions_other": questions(2, family=other)}  # fmt: skip
    scores = stage.run("demonstrate", made_params, made_inputs).value["demonstrations"]
    assert [one["score"] for one in scores] == [1.0, 1.0]


def test_without_contexts_there_is_nothing_to_show(stage):
    with pytest.raises(StepError, match="no edit contexts"):
        shown(stage, SOLVES, contexts=0)


def test_a_teacher_that_gives_no_reply_stops_the_step(stage):
    with pytest.raises(StepError, match="the teacher gave no reply"):
        shown(stage, {"match": "nothing that is asked", "reply": "x"})
