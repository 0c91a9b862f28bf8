"""What a distillation spec says of preference optimisation must be possible before anything is collected."""

import pytest
from pydantic import ValidationError

from hbench.spec import SpecError, load
from hbench.spec.distillation import DistilBlock

MODEL = {"weights": "embedded/smollm2-135m-instruct"}
REVIEWED = {"review": {"reviewer": MODEL}}


def test_preferences_go_on_from_the_adapter_of_the_fine_tuning():
    lora = {"rank": 8, "alpha": 16}
    assert DistilBlock(collect=REVIEWED, sft={"lora": lora}, dpo={"lora": lora}).dpo.lora.rank == 8
    assert DistilBlock(collect=REVIEWED, sft={"lora": lora}, dpo={"start": "base"}).dpo.start == "base"
    assert DistilBlock(collect=REVIEWED, sft={"lora": None}, dpo={"lora": None}).dpo.lora is None


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"dpo": {}}, "nobody reviews"),
        ({"collect": REVIEWED, "sft": {"lora": {"rank": 8}}, "dpo": {}}, "dpo.lora.rank is 16"),
        ({"collect": REVIEWED, "sft": {"lora": None}, "dpo": {}}, "trained whole"),
    ],
)
def test_preferences_that_cannot_be_learnt_are_an_authors_mistake(block, message):
    with pytest.raises(ValidationError, match=message):
        DistilBlock(**block)


SPEC = """
plan: distillation
name: toy
domain: {kind: toy, name: toy, ask: copy}
splits: {training: 4, evaluation: 3}
student: {weights: embedded/smollm2-135m-instruct}
let: {rules: {kind: rules, name: files_expert}}
"""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("train: {keep: [{kind: succeeded, grade: hrad}]}", "train.keep: domain toy gives no grade 'hrad'"),
        ("arms: {a: {student: '${let.rules}', train: {collect: {student: '${let.rules}'}}}}", "no model of weights"),
        ("chain: 1", "at temperature 0 chain 1 says what chain 0 says"),
    ],
)
def test_what_would_fail_or_say_nothing_after_hours_is_an_authors_mistake(tmp_path, more, message):
    (tmp_path / "toy.yaml").write_text(f"{SPEC}{more}\n")
    with pytest.raises(SpecError, match=message):
        load(tmp_path / "toy.yaml")


def test_a_second_chain_may_draw_anew(tmp_path):
    (tmp_path / "toy.yaml").write_text(f"{SPEC}chain: 1\n")
    (spec,) = load(tmp_path / "toy.yaml", ["student.sampling.temperature=1.0"])
    assert [arm.chain for arm in spec.arms.values()] == [1]
