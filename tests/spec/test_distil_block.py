"""What a distillation spec says of preference optimisation must be possible before anything is collected."""

import pytest
from pydantic import ValidationError

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
