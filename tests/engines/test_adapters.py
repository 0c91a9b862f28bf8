"""What was trained, served: in this process and by a server."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BrokenBarrierError

import pytest

from hbench.core.failure import HbenchError
from hbench.engines import local_model
from hbench.engines.open_lm import open_lm
from tests.engines.asking import ask
from tests.engines.training import LORA, logits, stirred, tiny_ref
from tests.server import ModelServer

torch = pytest.importorskip("torch")
pytest.importorskip("peft")


@pytest.fixture(scope="module")
def ref(tmp_path_factory):
    return tiny_ref(tmp_path_factory.mktemp("tiny") / "model")


def answers(ref, machine=None, *requests):
    async def run():
        lm = open_lm(ref, machine or {"engine": "transformers", "threads": 1})
        try:
            return await lm.generate(requests or [ask("ab", max_tokens=8)])
        finally:
            await lm.close()

    return asyncio.run(run())


def checked(ref, machine):
    async def run():
        lm = open_lm(ref, machine)
        try:
            await lm.check()
        finally:
            await lm.close()

    asyncio.run(run())


@pytest.mark.parametrize("lora", [LORA, None], ids=["adapter", "whole"])
def test_what_was_trained_speaks_in_this_process(ref, tmp_path, lora):
    model, trained = stirred(ref, tmp_path / "checkpoint", lora)
    served = local_model.load(trained.identity, files=trained.files)
    assert torch.allclose(logits(served.model), logits(model), atol=1e-4)
    assert type(served.model).__name__ == "LlamaForCausalLM"  # nothing of the adapter slows it
    assert answers(trained)[0].text != answers(ref)[0].text


def test_models_are_loaded_one_at_a_time(ref, monkeypatch):
    """Three adapters of a study were asked at once: "Cannot copy out of meta tensor", for all that asked them later too."""
    from transformers import AutoModelForCausalLM

    met, meeting, original = [], Barrier(2), AutoModelForCausalLM.from_pretrained

    def watched(*words, **named):
        try:
            met.append(meeting.wait(0.5))
        except BrokenBarrierError:
            pass  # nobody else was loading
        return original(*words, **named)

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", watched)
    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(lambda _: local_model.load(ref.identity), range(2))
    assert met == [] and torch.equal(logits(one.model), logits(other.model))


@pytest.mark.parametrize("there", [True, False])
def test_a_merge_is_rounded_once_whatever_it_is_computed_in(tmp_path, monkeypatch, there):
    monkeypatch.setattr(local_model, "has_bfloat16", lambda: there)
    ref = tiny_ref(tmp_path / "model", "bfloat16")
    model, trained = stirred(ref, tmp_path / "checkpoint")
    served = local_model.load(trained.identity, files=trained.files).model.model.layers[1].mlp.up_proj.weight
    layer = model.base_model.model.model.layers[1].mlp.up_proj
    exact = layer.base_layer.weight.double() + layer.get_delta_weight("default").double()
    assert served.dtype == (torch.bfloat16 if there else torch.float32)
    assert torch.equal(served.bfloat16(), exact.float().bfloat16()) and torch.equal(served.bfloat16().float(), served.float())


def test_what_was_trained_must_lie_somewhere(ref):
    for key in ("adapter", "trained"):
        with pytest.raises(HbenchError, match=f"where the {key} abcd of"):
            local_model.load({**ref.identity, key: "abcd"})


def test_a_server_is_given_an_adapter_once_and_asked_for_it_by_its_digest(ref, tmp_path):
    _, trained = stirred(ref, tmp_path / "checkpoint")
    name = trained.identity["adapter"][:16]
    with ModelServer(lambda text: "yes") as server:
        for _ in range(2):
            assert [reply.text for reply in answers(trained, {"base_url": server.url}, ask(), ask())] == ["yes"] * 2
        checked(trained, {"base_url": server.url})
        assert server.adapters == {name: str(trained.files)}
    assert {body["model"] for body in server.bodies} == {name}


def test_a_server_that_had_it_meanwhile_is_fine(ref, tmp_path):
    _, trained = stirred(ref, tmp_path / "checkpoint")
    with ModelServer(lambda text: "yes") as server:

        async def race():
            lms = [open_lm(trained, {"base_url": server.url}) for _ in range(8)]
            replies = await asyncio.gather(*(lm.generate([ask()]) for lm in lms))
            await asyncio.gather(*(lm.close() for lm in lms))
            return [reply.text for (reply,) in replies]

        assert asyncio.run(race()) == ["yes"] * 8


@pytest.mark.parametrize("reason", ["Not Found", "Loading lora failed: No adapter found"])
def test_a_server_that_takes_no_adapter_is_told_with_what_it_needs(ref, tmp_path, reason):
    _, trained = stirred(ref, tmp_path / "checkpoint")
    with ModelServer(lambda text: "yes", refuses=reason) as server:
        (error,) = answers(trained, {"base_url": server.url})
        assert error.kind == "bad_request" and f"404: {reason}" in error.message and "--enable-lora" in error.message
        with pytest.raises(HbenchError, match=f"does not load the adapter {trained.files}"):
            checked(trained, {"base_url": server.url})
    assert not server.bodies


def test_a_server_that_does_not_answer_is_no_fault_of_the_adapter(ref, tmp_path):
    _, trained = stirred(ref, tmp_path / "checkpoint")
    (error,) = answers(trained, {"base_url": "http://127.0.0.1:9/v1", "retries": 0})
    assert error.kind == "server" and "does not load" in error.message


def test_whole_weights_are_asked_for_by_their_digest_and_never_given(ref, tmp_path):
    _, trained = stirred(ref, tmp_path / "checkpoint", None)
    name = trained.identity["trained"][:16]
    with ModelServer(lambda text: "yes") as server:
        (error,) = answers(trained, {"base_url": server.url})
        assert f"serve the folder {trained.files} there, as {name}" in error.message
        server.adapters[name] = "served"
        assert answers(trained, {"base_url": server.url})[0].text == "yes"
