"""Plans: equal steps once, ids from recipes, evaluation questions kept away from whatever adapts."""

import re
import subprocess
import sys

import pytest

from hbench.core.failure import HbenchError
from hbench.plan import PlanError, Step, compile
from hbench.plan.bounds import bounds
from hbench.plan.check import MAY_SEE_EVALUATION, check
from hbench.plan.plan import Label, Plan
from hbench.plan.show import show
from hbench.spec import load
from hbench.steps.step_kind import names
from tests.world import make_world


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A function: the plan of the toy spec with some overrides."""
    monkeypatch.chdir(make_world(tmp_path).folder)

    def plan(*overrides):
        return compile(load("specs/toy.yaml", overrides)[0])

    return plan


def kinds_of(plan, arm, purpose):
    by_id = {step.id: step.kind for step in plan.steps}
    return [by_id[x.step_id] for x in plan.labels if x.arm == arm and x.purpose == purpose]


def test_one_spec_has_one_plan_whatever_the_day(toy):
    assert [s.id for s in toy().steps] == [s.id for s in toy().steps]


def test_an_arm_lays_down_the_rounds_that_it_names(toy):
    plan = toy()
    assert len(kinds_of(plan, "sequential", "propose")) == 3
    assert len(kinds_of(plan, "independent", "propose")) == 3
    assert kinds_of(plan, "seed", "propose") == []
    assert kinds_of(plan, "seed", "held_out") == ["evaluate"]


def test_arms_share_equal_steps(toy):
    plan = toy()
    first = {x.arm: x.step_id for x in plan.labels if x.purpose == "propose" and x.round == 0 and x.slot == 0}
    assert first["sequential"] == first["independent"]
    assert len({s.id for s in plan.steps}) == len(plan.steps)


def test_a_label_changes_no_id(toy):
    assert {s.id for s in toy("name=other", "machine.workers=2").steps} == {s.id for s in toy().steps}


def test_one_more_round_adds_steps_and_changes_none(toy):
    before, after = toy("arms.sequential.rounds=3"), toy("arms.sequential.rounds=4")
    assert {s.id for s in before.steps} < {s.id for s in after.steps}


def test_another_seed_draws_other_questions_and_other_edits(toy):
    one, other = toy("seed=1"), toy("seed=2")
    proposals = [{s.id for s in plan.steps if s.kind in ("split", "propose")} for plan in (one, other)]
    assert not proposals[0] & proposals[1]


def test_redrawn_questions_leave_the_held_out_ones_alone(toy):
    plan = toy("splits.redraw=each_round")
    splits = {(x.purpose, x.step_id) for x in plan.labels if x.arm == "sequential" and x.purpose.startswith("split_")}
    assert len([1 for purpose, _ in splits if purpose == "split_feedback"]) == 3
    assert len([1 for purpose, _ in splits if purpose == "split_evaluation"]) == 1


def test_steps_stand_in_topological_order(toy):
    seen = set()
    for step in toy().steps:
        assert all(parent.id in seen for parent in step.parents().values())
        seen.add(step.id)


@pytest.mark.truth
@pytest.mark.parametrize("kind", [k for k in names() if k not in MAY_SEE_EVALUATION])
def test_evaluation_questions_reach_no_step_that_adapts(kind):
    split = Step("split", {"role": "evaluation"})
    run = Step("evaluate", {}, {"questions": split["questions"]})
    reader = Step(kind, {}, {"anything": run})
    with pytest.raises(PlanError, match="evaluation questions would reach"):
        check(plan_of(split, run, reader))


@pytest.mark.parametrize("kind", [k for k in names() if k not in MAY_SEE_EVALUATION])
def test_the_same_plan_with_feedback_questions_is_let_through(kind):
    split = Step("split", {"role": "feedback"})
    run = Step("evaluate", {}, {"questions": split["questions"]})
    check(plan_of(split, run, Step(kind, {}, {"anything": run})))


def test_evaluation_questions_may_be_measured():
    split = Step("split", {"role": "evaluation"})
    check(plan_of(split, Step("evaluate", {}, {"questions": split["questions"]})))


def test_a_step_before_its_input_is_refused():
    split = Step("split", {"role": "feedback"})
    with pytest.raises(PlanError, match="later step"):
        check(plan_of(Step("evaluate", {}, {"questions": split["questions"]}), split))


def test_an_input_of_the_wrong_kind_is_refused():
    split = Step("split", {"role": "feedback"})
    with pytest.raises(PlanError, match="propose.report reads report, not split"):
        check(plan_of(split, Step("propose", {}, {"report": split})))


def test_an_unknown_step_kind_is_named():
    with pytest.raises(KeyError, match="no step kind 'evalute'"):
        Step("evalute", {}).id


def test_the_plan_is_shown_with_states_and_upper_bounds(toy):
    plan = toy()
    text = show(plan, {step.id: "to run" for step in plan.steps})
    assert f"{len(plan.steps)} to run" in text
    assert "arm sequential" in text and "round 2, candidate 0" in text
    calls = sum(bounds(step)["solver"].calls for step in plan.steps if "solver" in bounds(step))
    assert re.search(rf"all\s+solver\s+{calls:,} calls", text)


def test_an_arm_of_hundreds_of_steps_is_told_by_what_they_are_for(toy):
    plan = toy("arms.sequential.rounds=60", "evaluate_all=false")
    states = {step.id: "to run" for step in plan.steps}
    assert "propose, 60 steps" in show(plan, states)
    assert "round 59, candidate 0" not in show(plan, states)
    assert "round 59, candidate 0" in show(plan, states, every=True)


def test_a_cached_step_costs_nothing(toy):
    plan = toy()
    assert "nothing is left" not in show(plan, {step.id: "to run" for step in plan.steps})
    text = show(plan, {step.id: "cached" for step in plan.steps})
    assert re.search(r"all +solver", text) is None


def test_planning_loads_no_heavy_library():
    code = "import hbench.spec, hbench.plan, sys; print([m for m in ('torch','transformers','vllm','trl','duckdb') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_an_hbench_error_is_what_a_refused_plan_raises():
    assert issubclass(PlanError, HbenchError)


def plan_of(*steps):
    labels = tuple(Label(s.id, "main", "toy", 0, s.kind, s.kind) for s in steps)
    return Plan(None, steps, labels)




def test_a_plan_tells_the_most_that_its_calls_may_cost_and_what_would_end_it(toy):
    models = "machine.models={recorded: {price: {prompt: 0, completion: 1000}}}"
    plan = toy("arms=null", "rounds=1", "solver.sampling={max_tokens: 100}", "limits={calls: 2}", models, "machine.budget={cost: 3}")
    told = show(plan, dict.fromkeys((step.id for step in plan.steps), "to run"))
    line = next(line for line in told.splitlines() if line.split()[:2] == ["main", "solver"])
    calls, tokens = (int(word.replace(",", "")) for word in (line.split()[2], line.split()[4]))
    assert tokens == calls * 100 and line.endswith(f"cost {tokens / 1000:,.2f}")
    assert "machine.budget, which ends a run before it takes more:\n  the run          cost 3" in told


def test_a_price_of_prompts_is_bounded_by_the_context_of_the_model_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(make_world(tmp_path).folder)
    solver, models = "solver={kind: weights, name: m, weights: m, revision: r%s}", "machine.models={m: {price: {prompt: 1000, completion: 0}}}"
    shown = []
    for context in ("", ", context: 500"):
        (spec,) = load("specs/toy.yaml", ["arms=null", "rounds=0", "limits={calls: 1}", solver % context, models])
        plan = compile(spec)
        shown.append(show(plan, dict.fromkeys((step.id for step in plan.steps), "to run")))
    assert "cost 0.00 and prompts" in shown[0]
    assert "6 calls" in shown[1] and "cost 3.00\n" in shown[1] + "\n", "6 prompts of 500 tokens"
