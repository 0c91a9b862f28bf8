"""An adapter merged into its base is an ordinary model; an adapter with its card beside it is loaded as ever."""

import pytest

from hbench.engines.merged_folder import write_merged
from hbench.store.checkpoint import put_checkpoint
from tests.engines.training import logits, stirred, tiny_ref

torch = pytest.importorskip("torch")
pytest.importorskip("peft")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(model, reference to it, folder of the adapter)."""
    folder = tmp_path_factory.mktemp("tiny")
    model, trained = stirred(tiny_ref(folder / "model"), folder / "checkpoint")
    return model, trained, trained.files


def test_a_merged_folder_holds_model_and_tokenizer(made, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, trained, files = made
    write_merged(trained.base, files, tmp_path / "whole")
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "whole", dtype=torch.float32)
    assert torch.allclose(logits(merged), logits(model), atol=1e-4)
    assert AutoTokenizer.from_pretrained(tmp_path / "whole").chat_template


def test_without_a_dtype_in_the_spec_it_stays_as_saved(made, tmp_path):
    _, trained, files = made
    base = {key: value for key, value in trained.base.items() if key != "dtype"}
    write_merged(base, files, tmp_path / "whole")
    assert '"dtype": "float32"' in (tmp_path / "whole/config.json").read_text()


def test_transformers_and_peft_load_an_exported_adapter(made, tmp_path):
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    model, trained, files = made
    card = {"kind": "adapter", "sha256": "0", "base": trained.base, "step": {"kind": "train_sft", "key": "k"}}
    put_checkpoint({**card, "params": {}, "updates": 1, "lineage": []}, files, tmp_path / "out")
    base = AutoModelForCausalLM.from_pretrained(trained.base["weights"], dtype=torch.float32)
    laid = PeftModel.from_pretrained(base, str(tmp_path / "out"))
    assert torch.allclose(logits(laid), logits(model), atol=1e-4)
