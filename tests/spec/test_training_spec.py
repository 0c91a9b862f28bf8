"""Training specs: families laid over `family`, checkpoints of the spec's own, and what cannot be done told where it stands."""

import pytest

TRAINS = """\
plan: training
family: {kind: toy, name: base, ask: sum}
splits: {feedback: 2, scoring: same_as_feedback, evaluation: 4}
harness: harnesses/one_call.py
solver: {weights: embedded/tiny}
proposer: {weights: embedded/tiny, prompt: proposer/plain}
report: {prompt: report/plain}
seen: [one, {name: two, ask: copy}, {kind: practice, name: sum_list}]
families: [three]
train:
  demonstrate: {teacher: {weights: embedded/teacher}, prompts: [proposer/plain]}
  sft: {updates: 2}
  grpo: {updates: 2, max_tokens: 8}
arms:
  base: {}
  sft: {proposer: {output: sft}}
  rl: {proposer: {output: rl}}
"""


def test_families_are_laid_over_the_one_family(project):
    arm = project.load(TRAINS)[0].arms["rl"]
    assert [(f.kind, f.name) for f in arm.seen] == [("toy", "one"), ("toy", "two"), ("practice", "sum_list")]
    assert [f.ask for f in arm.seen[:2]] == ["sum", "copy"]
    assert [f.name for f in arm.rl_families()] == ["one", "two", "sum_list"]


def test_another_checkpoint_is_another_spec(project):
    one, other = project.load(TRAINS)[0], project.load(TRAINS, "arms.sft.proposer.output=rl")[0]
    assert one.digest != other.digest


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (("seen=[one, one]",), "<command line>: seen: the family one stands here twice"),
        (("seen=[{kind: nothing}]",), "seen.0: no kind 'nothing' (there are: "),
        (("seen=[{kind: practice, name: sum_lists}]",), "seen.0.name: no skill 'sum_lists'"),
        (("seen=[{ask: multiply}]",), "seen.0.ask: expected copy or sum"),
        (("seen=[3]",), "seen.0: expected a family's name or a mapping, got 3"),
        (("grade=exact", "families=[{kind: invented_hops}]"), "family invented_hops gives no grade 'exact'"),
        (("train.sft=null", "arms.rl=null"), "grpo.start is sft, but there is no sft (write start: base)"),
        (("train.demonstrate=null",), "sft needs demonstrate"),
        (("train.sft=null", "train.grpo.start=base"), "proposer.output is sft, but there is no train.sft"),
        (("train.grpo=null",), "proposer.output is rl, but there is no train.grpo"),
        (("seen=[]",), "there are no families to train on (name them under seen)"),
        (("train.grpo.segments=0",), "train.grpo.segments: expected at least 1, got 0"),
        (("train.grpo.group=1",), "train.grpo.group: expected at least 2, got 1"),
        (("train.grpo.harnesses=[harnesses/one_call.py]",), "grpo.harnesses are parents of no context"),
        (("train.grpo.stronger=0.5", "rl_seen=[four]"), "nobody demonstrates four, so it has no stronger parent"),
        (("machine.training.processes=3",), "4 prompts of 8 completions cannot be shared evenly by 3 processes"),
        (("train.grpo.kl=0.1", "train.grpo.lora=null"), "grpo.kl needs an adapter on every layer"),
        (("train.grpo.kl=0.1", "train.grpo.lora={from_layer: 2}"), "grpo.kl needs an adapter on every layer"),
        (("train.grpo.lora={rank: 4}",), "grpo.lora.rank is 4, but the SFT adapter it goes on from has 16"),
        (
            ("train.grpo.credit={kind: discounted}", "machine.training.generation=vllm_colocate"),
            "further revisions are drawn by transformers alone",
        ),
        (("train.demonstrate.teacher.output=sft",), "a checkpoint of this spec cannot teach it"),
        (("solver.output=sft",), "solver.output: the solver is frozen"),
        (("train.grpo.credit={kind: delayed}",), "train.grpo.credit"),
    ],
)
def test_what_cannot_be_trained_is_told_before_anything_runs(project, changes, told):
    assert told in project.problems(TRAINS, *changes)


def test_a_fault_of_the_family_is_told_alone(project):
    """Every list that is laid over it, and the training on them, was told to lack it too."""
    assert project.problems(TRAINS, "family.ask=multiply") == "<command line>: family.ask: expected copy or sum, got 'multiply'"


def test_what_an_arm_cannot_do_is_told_at_the_block_that_lacks_it(project):
    text = TRAINS.replace("  sft: {updates: 2}\n", "").replace("max_tokens: 8", "max_tokens: 8, start: base")
    assert project.problems(text) == (
        "specs/mine.yaml:10:1: train: proposer.output is sft, but there is no train.sft"
    )


def test_only_a_training_spec_has_checkpoints_of_its_own(project):
    text = "plan: adaptation\nextends: whole\nproposer: {output: sft}\n"
    assert "only a training spec has checkpoints of its own" in project.problems(text)
