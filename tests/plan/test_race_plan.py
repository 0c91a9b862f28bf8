"""A race in a plan: one step in place of scoring and selecting, with a bound of its own; and what a spec may not say of it."""

import pytest

from hbench.plan import compile
from hbench.plan.bounds import bounds
from hbench.spec import SpecError, load
from tests.world import make_world


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A function: the toy spec with some overrides."""
    monkeypatch.chdir(make_world(tmp_path).folder)
    return lambda *overrides: load("specs/toy.yaml", ["splits.scoring=16", "proposals=8", "arms.only={}", *overrides])[0]


def of_arm(plan, kind):
    labels = {label.step_id for label in plan.labels if label.arm == "only"}
    return [step for step in plan.steps if step.kind == kind and step.id in labels]


def test_one_step_a_round_scores_all_and_selects(toy):
    plan = compile(toy("arms.only.race=paired"))
    assert len(of_arm(plan, "race")) == 2 and of_arm(plan, "select") == []
    told = [(x.purpose, x.slot) for x in plan.labels if x.step_id == of_arm(plan, "race")[0].id]
    assert told == [*(("candidate_scoring", slot) for slot in range(8)), ("select", None)]
    assert all(reward.inputs["trial"].kind == "race" for reward in of_arm(plan, "reward"))


def test_halving_is_bounded_by_half_the_rollouts_of_scoring_all(toy):
    whole, paired, halved = (compile(toy(*race)) for race in ([], ["arms.only.race=paired"], ["arms.only.race=halving"]))
    scored = [step for step in of_arm(whole, "evaluate") if step.inputs["harness"].step.kind == "propose"]
    most = bounds(scored[0])["solver"].calls
    assert [bounds(of_arm(plan, "race")[0])["solver"].calls for plan in (paired, halved)] == [8 * most, 4 * most]


def test_a_spec_without_a_race_keeps_its_digest(toy):
    assert "race" not in toy().arms["only"].hashed() and toy().digest == toy("race=null").digest


def test_pareto_weighs_what_a_race_does_not_watch(toy):
    with pytest.raises(SpecError, match="the selection pareto weighs tokens too"):
        toy("race=paired", "selection={kind: pareto}")


def test_an_unknown_race_is_named(toy):
    with pytest.raises(SpecError, match="race: no kind 'halvin' .did you mean 'halving'"):
        toy("race=halvin")
