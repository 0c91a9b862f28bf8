"""The engine in this process, on a tiny random model; the embedded one is in test_embedded.py."""

import asyncio
import time

import pytest

from hbench.core.failure import HbenchError
from hbench.core.message import LMError, Message, Request, Sampling
from hbench.engines import transformers_lm
from hbench.engines.decoder import Decoder
from hbench.engines.transformers_lm import TransformersLM
from tests.engines.asking import ask
from tests.engines.tiny_model import save_tiny

pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("tiny"))


def generate(folder, *requests, batch=4, **identity):
    async def run():
        lm = TransformersLM({"weights": str(folder), "dtype": "float32", **identity}, batch=batch, threads=1)
        try:
            return await lm.generate(requests)
        finally:
            await lm.close()

    return asyncio.run(run())


def sampled(seeds, **sampling):
    return [ask("ab+c=?", seed=seed, **{"temperature": 1.5, "max_tokens": 12, **sampling}) for seed in seeds]


def test_a_reply_does_not_depend_on_its_company(folder):
    requests = [*sampled(range(6)), *(ask(text, max_tokens=9) for text in ("a", "b+b", "what is 1+1?", "a"))]
    together = generate(folder, *requests, batch=4)  # more than fit at once: they join as others leave
    alone = [generate(folder, request, batch=1)[0] for request in requests]
    assert [(r.text, r.finish_reason) for r in together] == [(r.text, r.finish_reason) for r in alone]


def test_equal_prompts_with_own_seeds_get_several_texts_and_the_same_ones_again(folder):
    first, again = (generate(folder, *sampled(range(8)), batch=8) for _ in range(2))
    assert len({r.text for r in first}) > 1
    assert [r.text for r in first] == [r.text for r in again]


def test_length_and_stop_are_told_apart(folder):
    replies = generate(folder, *sampled(range(20), max_tokens=30), batch=20)
    ended = [r for r in replies if r.finish_reason == "stop"]
    assert ended and all(r.completion_tokens <= 30 and "<end>" not in r.text for r in ended)
    assert all(r.completion_tokens == 30 for r in replies if r.finish_reason == "length")
    assert {r.finish_reason for r in generate(folder, *sampled(range(3), max_tokens=1))} <= {"length", "stop"}


def test_a_stop_string_cuts_and_ends(folder):
    (free,) = generate(folder, ask("abc", max_tokens=20))
    stop = free.text[5:7]
    (cut,) = generate(folder, ask("abc", max_tokens=20, stop=(stop,)))
    assert cut.text == free.text[: free.text.index(stop)] and cut.finish_reason == "stop"
    assert cut.completion_tokens < free.completion_tokens


def test_tokens_are_counted(folder):
    (reply,) = generate(folder, ask("abc", max_tokens=3))
    assert reply.prompt_tokens == 5 and reply.completion_tokens == len(reply.text) == 3  # <user>abc<assistant>


def test_a_prompt_beyond_the_context_is_told_with_the_counts(folder):
    long, fine = generate(folder, ask("a" * 62), ask("a"))
    assert (long.kind, long.message) == ("too_long", "the prompt has 64 tokens, the context 64") and fine.text
    (nearly,) = generate(folder, ask("a" * 61, max_tokens=50))
    assert nearly.completion_tokens == 1  # what the context leaves
    assert generate(folder, ask("a" * 10), context=8)[0].kind == "too_long"


def test_one_bad_request_loses_no_other(folder):
    refused = Request((Message("nobody", "a"),), Sampling())
    bad = [refused, ask("b", max_tokens=0), ask("c", extra={"x": 1})]
    results = generate(folder, ask("a", max_tokens=2), *bad, ask("\ud800\x00", max_tokens=2))
    assert [getattr(r, "kind", "fine") for r in results] == ["fine", *["bad_request"] * 3, "fine"]
    assert "nobody may speak" in results[1].message


def test_weights_that_are_not_there_are_told(tmp_path):
    with pytest.raises(HbenchError, match="cannot be loaded"):
        generate(tmp_path / "none", ask())
    with pytest.raises(HbenchError, match="cannot be loaded"):
        asyncio.run(TransformersLM({"weights": str(tmp_path / "none")}).check())


def test_an_adapter_is_refused_rather_than_ignored(folder):
    with pytest.raises(HbenchError, match="adapter"):
        generate(folder, ask(), adapter="abc")


def test_out_of_memory_is_told_and_the_engine_goes_on(folder, monkeypatch):
    step = Decoder.step
    troubles = iter([RuntimeError("DefaultCPUAllocator: can't allocate memory"), MemoryError(), KeyError("bug")])

    def failing(decoder):
        for trouble in troubles:
            raise trouble
        return step(decoder)

    monkeypatch.setattr(Decoder, "step", failing)

    async def run():
        lm = TransformersLM({"weights": str(folder)}, batch=4, threads=1)
        results = [(await lm.generate([ask("a", max_tokens=3)]))[0] for _ in range(4)]
        await lm.close()
        return results

    *errors, reply = asyncio.run(run())
    assert [e.kind for e in errors] == ["memory", "memory", "server"] and reply.text


def test_who_gives_up_frees_the_row(folder):
    async def run():
        lm = TransformersLM({"weights": str(folder)}, batch=1, threads=1)
        await lm.generate([ask("a", max_tokens=1)])
        long = asyncio.ensure_future(lm.generate(sampled([3], max_tokens=50, temperature=0.0)))
        await asyncio.sleep(0.01)
        long.cancel()
        (reply,) = await asyncio.wait_for(lm.generate([ask("b", max_tokens=2)]), 20)
        await lm.close()
        return reply

    assert asyncio.run(run()).text


def test_closing_answers_everyone_soon(folder, monkeypatch):
    monkeypatch.setattr(transformers_lm, "GATHER_S", 0.3)

    async def run():
        lm = TransformersLM({"weights": str(folder)}, batch=1, threads=1)
        asking = asyncio.ensure_future(lm.generate(sampled(range(30), max_tokens=50)))
        await asyncio.sleep(0.2)
        started = time.monotonic()
        await lm.close()
        took = time.monotonic() - started
        results = (await asyncio.gather(asking, return_exceptions=True))[0]
        with pytest.raises(HbenchError, match="closed"):
            await lm.generate([ask()])
        return took, results

    took, results = asyncio.run(run())
    assert took < 9 and (isinstance(results, HbenchError) or any(isinstance(r, LMError) for r in results))


def test_the_loop_stays_free_while_the_model_works(folder):
    async def run():
        lm = TransformersLM({"weights": str(folder)}, batch=4, threads=1)
        asking = asyncio.ensure_future(lm.generate(sampled(range(12), max_tokens=40)))
        ticks = 0
        while not asking.done():
            await asyncio.sleep(0.005)
            ticks += 1
        await lm.close()
        return ticks

    assert asyncio.run(run()) > 5
