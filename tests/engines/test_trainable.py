"""What is trained: loaded with an adapter or whole, saved as a checkpoint, gone on from."""

import json

import pytest

from hbench.core.failure import HbenchError, StepError
from hbench.engines import local_model, trainable
from hbench.engines.trainable import checkpoint_json, load
from tests.engines.training import LORA, logits, stirred, task, tiny_ref

torch = pytest.importorskip("torch")
pytest.importorskip("peft")


@pytest.fixture(scope="module")
def ref(tmp_path_factory):
    return tiny_ref(tmp_path_factory.mktemp("tiny") / "model")


def trained_names(model):
    return {name for name, weight in model.named_parameters() if weight.requires_grad}


def test_a_fresh_adapter_changes_nothing_and_is_all_that_is_trained(ref, tmp_path):
    model, _ = load(task(ref, tmp_path))
    whole, _ = load(task(ref, tmp_path, lora=None))
    assert torch.equal(logits(model), logits(whole)) and model.training
    assert trained_names(model) and all("lora_" in name for name in trained_names(model))
    assert not [name for name in trained_names(model) if "lm_head" in name]


def test_a_seed_gives_the_same_adapter(ref, tmp_path):
    first, again = (load(task(ref, tmp_path))[0].state_dict() for _ in range(2))
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_only_layers_from_one_on_are_trained(ref, tmp_path):
    model, _ = load(task(ref, tmp_path, lora={**LORA, "from_layer": 2}))
    assert {name.split("layers.")[1][0] for name in trained_names(model)} == {"2"}
    with pytest.raises(StepError, match="layers 0 to 2, and 3"):
        load(task(ref, tmp_path, lora={**LORA, "from_layer": 3}))


def test_named_targets_are_trained_and_wrong_names_told(ref, tmp_path):
    model, _ = load(task(ref, tmp_path, lora={**LORA, "targets": ["q_proj"]}))
    assert all("q_proj" in name for name in trained_names(model))
    with pytest.raises(StepError, match="query"):
        load(task(ref, tmp_path, lora={**LORA, "targets": ["query"]}))


@pytest.mark.parametrize("there", [True, False])
def test_the_adapter_is_float32_on_bfloat16_weights_and_whole_weights_are_float32(tmp_path, monkeypatch, there):
    """A CPU without bfloat16 used to be some fifty times slower: it computes the same weights in float32."""
    monkeypatch.setattr(local_model, "has_bfloat16", lambda: there)
    ref = tiny_ref(tmp_path / "model", "bfloat16")
    model, _ = load(task(ref, tmp_path))
    kinds = {(weight.requires_grad, weight.dtype) for weight in model.parameters()}
    assert kinds == {(True, torch.float32), (False, torch.bfloat16 if there else torch.float32)}
    whole, _ = load(task(ref, tmp_path, lora=None))
    assert {weight.dtype for weight in whole.parameters()} == {torch.float32}
    with pytest.raises(StepError, match="float16"):
        load(task(tiny_ref(tmp_path / "model", "float16"), tmp_path))


@pytest.mark.parametrize("lora", [LORA, None], ids=["adapter", "whole"])
def test_a_checkpoint_says_the_same_when_it_is_gone_on_from(ref, tmp_path, lora):
    model, trained = stirred(ref, tmp_path / "checkpoint", lora)
    again, _ = load(task(trained, tmp_path, lora=lora))
    assert torch.equal(logits(again.eval()), logits(model))
    assert not torch.equal(logits(again), logits(load(task(ref, tmp_path))[0]))
    assert trained_names(again) == trained_names(model)


@pytest.mark.parametrize("lora", [LORA, None], ids=["adapter", "whole"])
def test_equal_weights_make_equal_files_that_name_no_place(ref, tmp_path, lora):
    folders = [tmp_path / "one", tmp_path / "two" / "three"]
    refs = [stirred(ref, folder, lora)[1] for folder in folders]
    assert refs[0].identity == refs[1].identity
    assert refs[0].identity["adapter" if lora else "trained"] == checkpoint_json(ref, folders[1])["sha256"]
    texts = [file.read_text() for file in folders[1].iterdir() if file.suffix in (".json", ".jinja")]
    assert not [text for text in texts if str(tmp_path) in text]


def test_a_checkpoint_tells_its_kind_and_base(ref, tmp_path):
    stirred(ref, tmp_path / "a")
    stirred(ref, tmp_path / "w", None)
    adapter, weights = (checkpoint_json(ref, tmp_path / name) for name in "aw")
    assert (adapter["kind"], weights["kind"]) == ("adapter", "weights")
    assert adapter["base"] == weights["base"] == ref.identity and adapter["sha256"] != weights["sha256"]
    names = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert names == ["adapter_config.json", "adapter_model.safetensors"]
    assert json.loads((tmp_path / "w" / "config.json").read_text())["dtype"] == "bfloat16"


def test_an_adapter_goes_on_in_some_layers_only(ref, tmp_path):
    _, trained = stirred(ref, tmp_path / "checkpoint")
    model, tokenizer = load(task(trained, tmp_path, lora={**LORA, "from_layer": 2}))
    assert {name.split("layers.")[1][0] for name in trained_names(model)} == {"2"}
    trainable.save(model, tokenizer, tmp_path / "again", ref.identity["weights"])
    assert checkpoint_json(ref, tmp_path / "again")["sha256"] == trained.identity["adapter"]  # all layers are kept


def test_an_adapter_of_another_size_is_told(ref, tmp_path):
    _, trained = stirred(ref, tmp_path / "checkpoint")
    with pytest.raises(StepError, match="rank 4, the recipe says 8"):
        load(task(trained, tmp_path, lora={**LORA, "rank": 8}))


def test_an_adapter_can_be_laid_down_for_good_and_all_trained(ref, tmp_path):
    model, trained = stirred(ref, tmp_path / "checkpoint")
    whole, _ = load(task(trained, tmp_path, lora=None))
    assert torch.allclose(logits(whole), logits(model), atol=1e-4)
    assert trained_names(whole) == {name for name, _ in whole.named_parameters()}


def test_an_adapter_on_whole_trained_weights_is_refused(ref, tmp_path):
    _, trained = stirred(ref, tmp_path / "checkpoint", None)
    with pytest.raises(StepError, match="set lora to null"):
        load(task(trained, tmp_path))


def test_weights_that_are_not_there_are_told(tmp_path):
    ref = tiny_ref(tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").unlink()
    with pytest.raises(HbenchError, match="cannot be loaded"):
        load(task(ref, tmp_path))
