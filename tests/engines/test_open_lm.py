"""Which engine a model gets."""

import hashlib

import pytest

from hbench.core.failure import HbenchError
from hbench.core.model import ModelRef
from hbench.engines import open_lm as opening
from hbench.engines.open_lm import open_lm
from tests.engines.asking import model


def test_an_address_means_a_server():
    assert type(open_lm(model("Qwen/Qwen3-4B"), {"engine": "auto", "base_url": "http://h/v1"})).__name__ == "OpenAILM"
    assert open_lm(model("Qwen/Qwen3-4B"), {"port": 8101}).reach.model == "Qwen/Qwen3-4B"


def test_embedded_weights_run_in_this_process():
    assert type(open_lm(model("embedded/smollm2-135m-instruct"), {})).__name__ == "TransformersLM"


def test_a_recorded_model_reads_its_file(tmp_path):
    file = tmp_path / "r.jsonl"
    file.write_text('{"reply": "a"}\n')
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    ref = ModelRef("proposer", "recorded:r", {"kind": "recorded", "file": digest})
    assert open_lm(ref, {"file": str(file), "latency_ms": 0}).file == file
    file.write_text('{"reply": "b"}\n')
    with pytest.raises(HbenchError, match="changed"):
        open_lm(ref, {"file": str(file)})


def test_a_model_that_nothing_reaches_is_told_how(monkeypatch):
    monkeypatch.setattr(opening, "find_spec", lambda _: None)  # as on a machine without transformers
    with pytest.raises(HbenchError, match=r"machine\.models\.tiny\.base_url"):
        open_lm(model("Qwen/Qwen3-4B"), {})


def test_an_unknown_engine_is_told():
    with pytest.raises(HbenchError, match="none of auto, openai"):
        open_lm(model(), {"engine": "magic"})
