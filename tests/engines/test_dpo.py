"""Preference optimisation for real on a tiny model: accepted responses become likelier than rejected ones."""

import json
import math

import pytest

from hbench.core.failure import StepError
from hbench.engines import local_model, trainable
from hbench.engines.dpo import Pairs, read_pairs, train_dpo
from hbench.engines.trainer_log import latest, update_of
from tests.engines.training import LORA, stirred, task, tiny_ref

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

BETA = {"beta": 0.5, "learning_rate": 3e-3, "schedule": "constant", "warmup": 0}


@pytest.fixture(scope="module")
def ref(tmp_path_factory):
    return tiny_ref(tmp_path_factory.mktemp("tiny") / "model")


def pair(prompt, accepted, rejected, hidden=0):
    """hidden: how many of the accepted response's first tokens carry no loss."""

    def row(said, hide=0):
        labels = [-100] * (len(prompt) + hide) + said[hide:]
        return {"input_ids": prompt + said, "labels": labels}

    return {"accepted": row(accepted, hidden), "rejected": row(rejected)}


PAIRS = [pair([2, 4 + at, 5 + at, 3], [10 + at, 11, 0], [20, 21 + at, 22, 23, 0]) for at in range(6)]


def write(folder, pairs=PAIRS):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in pairs))
    return file


class Killed(Exception):
    pass


def train(job, rows, stop=None):
    noted = {}

    def note(update, name, value):
        if update == stop:
            raise Killed
        noted[update, name] = value

    try:
        train_dpo(job, rows, note)
    except Killed:
        assert stop
    return noted


def row(noted, name):
    return [value for (_, each), value in sorted(noted.items()) if each == name]


@pytest.mark.parametrize("lora", [LORA, None], ids=["adapter", "whole"])
@pytest.mark.slow
def test_accepted_responses_become_likelier(ref, tmp_path, lora):
    """At the first update nothing has changed, and the loss is log 2; then the margin grows, and the checkpoint serves."""
    rate = 3e-3 if lora else 1e-3
    noted = train(task(ref, tmp_path, lora=lora, updates=8, **{**BETA, "learning_rate": rate}), write(tmp_path))
    losses, margins = row(noted, "loss"), row(noted, "margin")
    assert losses[0] == pytest.approx(math.log(2), abs=1e-4) and sum(losses[-2:]) / 2 < 0.9 * losses[0]
    assert margins[0] == pytest.approx(0, abs=1e-4) and margins[-1] > 0.2 and row(noted, "accuracy")[-1] > 0.7
    assert {name for _, name in noted} >= {"loss", "learning_rate", "grad_norm", "seconds", "accepted_reward", "rejected_reward"}
    served = local_model.load(ref.identity, files=tmp_path / "final").model
    base = local_model.load(ref.identity).model
    gains = [gain(served, base, each["accepted"]) - gain(served, base, each["rejected"]) for each in PAIRS]
    assert sum(gains) > 0


def gain(model, base, row):
    """How much likelier the labels of `row` are to `model`."""
    wanted = [(place, label) for place, label in enumerate(row["labels"][1:]) if label >= 0]
    with torch.no_grad():
        one, two = (each(torch.tensor([row["input_ids"]])).logits[0].float().log_softmax(-1) for each in (model, base))
    return sum(one[place, label].item() - two[place, label].item() for place, label in wanted)


@pytest.mark.slow
def test_packed_and_padded_pairs_learn_the_same(ref, tmp_path):
    packed, padded = (
        train(task(ref, tmp_path / str(share), {"share_prompts": share}, updates=3, **BETA), write(tmp_path))
        for share in (True, False)
    )
    for name in ("loss", "grad_norm", "margin"):
        assert row(packed, name) == pytest.approx(row(padded, name), rel=1e-3, abs=1e-4)


@pytest.mark.slow
def test_memory_is_not_what_is_learned(ref, tmp_path):
    one, two = (
        train(task(ref, tmp_path / str(size), {"micro_batch": size}, updates=2, **BETA), write(tmp_path)) for size in (1, 4)
    )
    assert row(one, "loss") == pytest.approx(row(two, "loss"), abs=1e-4)


@pytest.mark.slow
def test_a_token_without_label_teaches_nothing(ref, tmp_path):
    """Hidden first tokens are read: only what follows them counts."""
    shown = [pair([2, 4, 3], [10, 11, 0], [20, 21, 0]), pair([2, 4, 3, 10], [11, 0], [20, 21, 0])]
    hidden = [pair([2, 4, 3], [10, 11, 0], [20, 21, 0], hidden=1)]
    labels = [Pairs(1)(each)["completion_mask"][0].tolist() for each in ([shown[0]], [shown[1]], hidden)]
    assert labels == [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 1, 1]]
    rewards = []
    for pairs in ([shown[0]], hidden):
        noted = train(task(ref, tmp_path / str(len(rewards)), updates=2, batch=1, **BETA), write(tmp_path, pairs))
        rewards.append(row(noted, "accepted_reward")[-1])
    assert rewards[0] != pytest.approx(rewards[1], abs=1e-4)


@pytest.mark.parametrize("lora", [LORA, None], ids=["adapter", "whole"])
@pytest.mark.slow
def test_a_killed_training_goes_on_as_if_it_had_not_been(ref, tmp_path, lora):
    straight = train(task(ref, tmp_path / "a", lora=lora, updates=6, **BETA), write(tmp_path))
    train(task(ref, tmp_path / "b", lora=lora, updates=6, **BETA), write(tmp_path), stop=5)
    assert update_of(latest(tmp_path / "b")) == 4
    after = train(task(ref, tmp_path / "b", lora=lora, updates=6, **BETA), write(tmp_path))
    assert row(after, "loss") == row(straight, "loss")[4:]
    one, two = (trainable.checkpoint_json(ref, tmp_path / name / "final") for name in "ab")
    assert one == two


def test_it_goes_on_from_an_adapter_and_is_held_to_it(ref, tmp_path):
    """Layers that the recipe leaves alone stay as they were."""
    _, begun = stirred(ref, tmp_path / "begun")
    noted = train(task(begun, tmp_path, lora={**LORA, "from_layer": 2}, updates=3, **BETA), write(tmp_path))
    assert row(noted, "loss")[0] == pytest.approx(math.log(2), abs=1e-4)
    from safetensors.torch import load_file

    before, after = (load_file(folder / "adapter_model.safetensors") for folder in (tmp_path / "begun", tmp_path / "final"))
    assert before.keys() == after.keys()
    changed = {name.split(".layers.")[1][0] for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"2"}


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "no pair"),
        ([pair([2, 3], [4], [5]), {"accepted": {"input_ids": [1, 2], "labels": [-100, -100]}, "rejected": None}], "pair 1, accepted"),
        ([{**pair([2, 3], [4], [5]), "rejected": {"input_ids": [1, 2], "labels": [1]}}], "pair 0, rejected: 2 tokens and 1"),
    ],
)
def test_pairs_that_cannot_be_trained_stop_the_step(tmp_path, pairs, message):
    with pytest.raises(StepError, match=message):
        read_pairs(write(tmp_path, pairs))
