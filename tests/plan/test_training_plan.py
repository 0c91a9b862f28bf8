"""Training plans: one arm reads like the paper's algorithm, and arms share what they share, nothing else."""

import pytest

from hbench.plan import compile
from hbench.plan.layout import Layout
from hbench.plan.bounds import bounds
from hbench.spec import load
from tests.world import make_world

SPEC = """
plan: training
name: trains
family: {kind: toy, name: toy, ask: sum}
splits: {feedback: 4, scoring: 4, evaluation: 6}
harness: harnesses/plain.py
solver: {kind: recorded, file: replies/solver.jsonl}
proposer: {weights: embedded/tiny, prompt: proposer/search_replace}
rounds: 1
proposals: 2
seen: [one, two]
families: [three, four]
train:
  contexts: {per_family: 2, feedback: 3, scoring: 5}
  demonstrate:
    teacher: {kind: recorded, file: replies/proposer.jsonl}
    prompts: [proposer/search_replace]
  sft: {updates: 2}
  grpo: {updates: 2, max_tokens: 8}
arms:
  base: {}
  sft: {proposer: {output: sft}}
  sft_longer: {proposer: {output: sft}, train: {sft_more: {updates: 3}}}
  cold: {proposer: {output: sft, sampling: {temperature: 0.5}}}
  rl: {proposer: {output: rl}}
  rl_1: {proposer: {output: rl}, train: {grpo: {seed: 1}}}
  multistep: {proposer: {output: rl}, train: {grpo: {segments: 3}}}
"""


@pytest.fixture
def spec(tmp_path, monkeypatch):
    """A function: the training spec with some overrides."""
    world = make_world(tmp_path, SPEC)
    monkeypatch.chdir(world.folder)
    return lambda *overrides: load("specs/toy.yaml", overrides)[0]


def steps(plan, arm, kind):
    """The steps of one kind that one arm is labelled with."""
    mine = {label.step_id for label in plan.labels if label.arm == arm}
    return [step for step in plan.steps if step.id in mine and step.kind == kind]


def trained(plan, arm):
    return plan.outputs[f"{arm}/checkpoint"].id


def test_the_base_arm_trains_nothing(spec):
    plan = compile(spec())
    assert steps(plan, "base", "train_sft") == [] and len(steps(plan, "base", "propose")) == 4
    assert "base/checkpoint" not in plan.outputs


def test_every_family_is_adapted_with_the_checkpoint(spec):
    plan = compile(spec())
    proposed = steps(plan, "rl", "propose")
    assert {step.params["family"]["name"] for step in proposed} == {"three", "four"}
    assert {step.parents()["checkpoint"].id for step in proposed} == {trained(plan, "rl")}


def test_colder_sampling_is_the_same_checkpoint_and_another_seed_is_not(spec):
    plan = compile(spec())
    assert trained(plan, "cold") == trained(plan, "sft")
    assert trained(plan, "rl_1") != trained(plan, "rl")


def test_further_fine_tuning_goes_on_from_the_first_on_the_same_rows(spec):
    plan = compile(spec())
    first, second = steps(plan, "sft_longer", "train_sft")
    assert [first.id, second.id] == [trained(plan, "sft"), trained(plan, "sft_longer")]
    assert second.parents() == {"rows": first.parents()["rows"], "checkpoint": first}


def test_each_segment_goes_on_from_the_last_ones_candidates(spec):
    plan = compile(spec())
    segments = steps(plan, "multistep", "train_grpo")
    carries = steps(plan, "multistep", "carry")
    assert len(segments) == 3 and [c.parents()["trained"].id for c in carries] == [s.id for s in segments[:2]]
    assert [s.parents()["checkpoint"].kind for s in segments] == ["train_sft", "train_grpo", "train_grpo"]
    assert [s.params["recipe"]["warmup"] for s in segments] == [5, 0, 0]
    later = segments[1].parents()["contexts"]
    assert {entry["parent"] for entry in later.params["entries"]} == {"carried"}


def test_feedback_is_drawn_anew_for_every_context_and_never_holds_scoring_questions(spec):
    plan = compile(spec())
    draws = [s.params["draw"] for s in plan.steps if s.kind == "split" and "draw" in s.params]
    assert len({str(draw["round"]) for draw in draws}) == len(draws) == 4 * 3
    assert all(draw["scoring"] == "kept" for draw in draws)


@pytest.mark.parametrize(
    "change",
    [
        "train: {keep: {margin: 0.5}}",
        "train: {keep: {most: 1}}",
        "train: {demonstrate: {per_context: 3}}",
        "train: {contexts: {feedback: 2}}",
        "train: {contexts: {per_family: 1}}",
        "train: {grpo: {per_family: 1}}",
        "seen: [one]",
        "rl_seen: [one]",
        "reward: {completed: {weight: 0.5}}",
        "harness: harnesses/other.py",
        "limits: {calls: 3}",
        "report: {failures: 1}",
        "seed: 5",
    ],
)
def test_an_arm_among_others_is_what_it_is_alone(spec, tmp_path, change):
    """Contexts with stronger parents were shared by arms that keep other demonstrations: each must get its own."""
    (tmp_path / "specs/harnesses/other.py").write_text("def run(question, tools):\n    return 'other'\n")
    both = f"arms={{rl: {{}}, other: {{proposer: {{output: rl}}, {change}}}}}"
    together = spec("train.grpo.stronger=0.5", both)
    whole = compile(together)
    for arm in ("rl", "other"):
        assert trained(compile(together.only([arm])), arm) == trained(whole, arm), arm
    assert trained(whole, "rl") != trained(whole, "other")


def test_the_bound_counts_demonstrations_with_their_parents_and_further_revisions(spec):
    plan = compile(spec())
    shown = steps(plan, "sft", "demonstrate")[0]
    assert bounds(shown)["teacher"].calls == 4 and bounds(shown)["solver"].calls == (4 + 4) * 5 * 32
    drawn = bounds(steps(plan, "rl", "train_grpo")[0])["proposer"].calls
    credit = "train.grpo.credit={kind: discounted, horizon: 2}"
    assert bounds(steps(compile(spec(credit)), "rl", "train_grpo")[0])["proposer"].calls > 2 * drawn


def test_training_never_shrinks_what_is_held_out(spec):
    """allow_fewer shrank a short pool's evaluation split in training alone: seven held-out questions were trained on."""
    plan = compile(spec("splits.allow_fewer=true"))
    training = [s for s in steps(plan, "rl", "split") + steps(plan, "sft", "split") if s.params["sizes"]["scoring"] == 5]
    assert training and not any(s.params["allow_fewer"] for s in training)
    assert all(s.params["allow_fewer"] for s in steps(plan, "base", "split"))


def test_a_block_is_told_once_for_a_whole_plan(spec):
    lay = Layout(spec=spec().arms["base"])
    assert lay.json(lay.spec.family) is lay.json(lay.spec.family)
    assert lay.model("solver") is lay.model("solver") and lay.reward() is lay.reward()
