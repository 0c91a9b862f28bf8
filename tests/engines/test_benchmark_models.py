"""lm-eval's models tell what tokens their calls took: a server says it, and of weights here it is counted."""

import asyncio
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

pytest.importorskip("lm_eval", reason="the extra 'benchmark' is not installed")
pytestmark = pytest.mark.slow

UNTIL = {"until": ["\n"], "max_gen_toks": 5, "do_sample": False}


def asked(*arguments):
    return [SimpleNamespace(args=each, task_name="t") for each in arguments]


@contextmanager
def server():
    """(its address, the bodies that it was sent). It says three tokens, and that a prompt has as many as it has letters."""
    from aiohttp import web

    bodies, loop, ready, address = [], asyncio.new_event_loop(), threading.Event(), []

    async def answer(request):
        body = await request.json()
        bodies.append(body)
        prompt = body["messages"][0]["content"] if "messages" in body else body["prompt"][0]
        said = {"message": {"content": "abc"}} if "messages" in body else {"text": "abc", "logprobs": likelihoods(len(prompt))}
        usage = {"prompt_tokens": len(prompt), "completion_tokens": min(3, body["max_tokens"])}
        return web.json_response({"choices": [{"index": 0, **said}], "usage": usage})

    async def start():
        app = web.Application()
        app.router.add_post("/v1/{kind:.*}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address.append(f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
        ready.set()

    loop.create_task(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    ready.wait(30)
    try:
        yield address[0], bodies
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def likelihoods(tokens):
    return {"token_logprobs": [-1.0] * (tokens + 1), "top_logprobs": [{"x": -1.0}] * (tokens + 1)}


def at(address, chat, in_flight, tokenizer=None):
    from hbench.engines.benchmark_models import at_server

    arguments = {"base_url": address, "model": "m", "num_concurrent": in_flight, "tokenizer": tokenizer}
    arguments |= {"tokenizer_backend": "huggingface" if tokenizer else None, "max_length": 64, "max_retries": 1}
    return at_server(chat, 8 * in_flight, arguments)


@pytest.mark.parametrize("in_flight", [1, 4])
def test_a_served_chat_takes_what_its_server_says(in_flight):
    from lm_eval.models.api_models import JsonChatStr

    chats = [JsonChatStr(f'[{{"role": "user", "content": "{"x" * n}"}}]') for n in (4, 9, 2)]
    with server() as (address, bodies):
        lm = at(f"{address}/chat/completions", True, in_flight)
        assert lm.generate_until(asked(*((chat, UNTIL) for chat in chats)), disable_tqdm=True) == ["abc"] * 3
    assert lm.used.take() == (4 + 9 + 2, 9) and len(bodies) == 3 and lm.used.take() == (0, 0)


@pytest.mark.parametrize("in_flight", [1, 4])
def test_served_likelihoods_and_texts_take_what_the_server_says(tmp_path, in_flight):
    from tests.engines.tiny_model import save_tiny

    folder = str(save_tiny(tmp_path / "model"))
    with server() as (address, bodies):
        lm = at(f"{address}/completions", False, in_flight, folder)
        assert lm.loglikelihood(asked(("ab", "cd"), ("abcd", "e")), disable_tqdm=True) == [(-2.0, True), (-1.0, True)]
        assert lm.used.take() == (4 + 5, 2), "one token is drawn for each"
        assert lm.generate_until(asked(("abcdef", UNTIL)), disable_tqdm=True) == ["abc"]
        assert lm.used.take() == (6, 3) and len(bodies) == 3


def test_of_weights_here_what_is_put_and_drawn_is_counted(tmp_path):
    from hbench.engines.benchmark_models import weights_here
    from hbench.engines.local_model import load
    from tests.engines.tiny_model import save_tiny

    lm = weights_here(load({"weights": str(save_tiny(tmp_path / "model")), "dtype": "float32"}), 4)
    lm.loglikelihood(asked(("ab", "cd"), ("ab", "c"), ("abcd", "e")), disable_tqdm=True)
    assert lm.used.take() == (4 + 3 + 5, 0)
    said = lm.generate_until(asked(("abcdef", UNTIL), ("ab", UNTIL)), disable_tqdm=True)
    prompt, drawn = lm.used.take()
    assert prompt == 6 + 2 and sum(map(len, said)) <= drawn <= 2 * 5


@pytest.mark.parametrize(
    ("row", "drawn"),
    [([5, 6, 7], 3), ([5, 0, 1, 1], 2), ([0, 0, 0], 1), ([5, 6, 1], 3), ([], 0)],
)
def test_behind_its_end_a_row_is_only_filled_up(row, drawn):
    from hbench.engines.benchmark_models import _drawn

    assert _drawn(row, {0, 1}) == drawn
