"""What a process asks of the driver's models is what the driver would have asked: same request, same reply, one store."""

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import replace

import aiohttp
import pytest

from hbench.core.message import LMError, Message, Reply, Request, Sampling
from hbench.engines.openai_lm import OpenAILM, Reach
from hbench.engines.reply_store import ReplyStore, StoredLM
from hbench.engines.scripted import ScriptedLM
from hbench.runtime.serve_models import ModelServer, ServedLM
from tests.engines.asking import ask, model

SOLVER = model("tiny", revision="r1")
STEP = "5" * 64  # the key of the step that pays
CHAT = f"/{SOLVER.role}/v1"


@asynccontextmanager
async def served(answers, folder):
    """(the driver's scripted model, the address of its server for one step)"""
    scripted = ScriptedLM(answers)
    stored = StoredLM(scripted, ReplyStore(folder), SOLVER)
    server = ModelServer(lambda key, name, role: {(STEP, SOLVER.digest, SOLVER.role): stored}[key, name, role], [SOLVER.digest])
    address = await server.start()
    try:
        yield scripted, f"{address}/{STEP}"
    finally:
        await server.close()


def through_the_server(requests, answers, folder):
    """The replies that a rank gets, and the requests that reached the model."""

    async def body():
        async with served(answers, folder) as (scripted, url):
            lm = ServedLM(url, SOLVER)
            try:
                return await lm.generate(requests), scripted.asked
            finally:
                await lm.close()

    return asyncio.run(body())


ODD = [
    ask("plain", seed=7, temperature=0.7, max_tokens=33, top_p=0.9),
    ask("stops", stop=("\n\n", "a", "b", "c", "d", "e")),
    ask("extras", extra={"min_p": 0.1, "presence_penalty": None, "chat_template_kwargs": {"enable_thinking": False}}),
    ask("a lone surrogate \ud800, a NUL \0 and a \u2028"),
    ask("zeros", seed=0, temperature=0.0, top_p=1.0),
    Request((Message("system", "s"), Message("user", "u"), Message("assistant", "")), Sampling(), 2**63 - 1),
    Request((Message("user", "tools"),), Sampling(), 1, tools=[{"type": "function", "function": {"name": "f"}}]),
]


@pytest.mark.parametrize("request_", ODD, ids=lambda request: request.messages[0].content[:8])
def test_the_request_that_arrives_is_the_one_that_was_asked(request_, tmp_path):
    (reply,), (arrived,) = through_the_server([request_], ["yes"], tmp_path)
    assert arrived == request_ and arrived.id(SOLVER.identity) == request_.id(SOLVER.identity)
    assert reply.text == "yes"


def test_nothing_of_a_reply_is_lost(tmp_path):
    said = [
        Reply("cut he", "length", 11, 3),
        Reply("", "stop", 5, 0, reasoning="thought about it"),
        Reply("", "tool_calls", 5, 2, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]),
        Reply("a \ud800 surrogate", "content_filter", 1, 1),
        Reply("over", "unknown"),
    ]
    asked = [ask(f"question {i}", stop=("he",)) for i in range(len(said))]
    answers = {request.messages[0].content: reply for request, reply in zip(asked, said, strict=True)}
    replies, _ = through_the_server(asked, lambda request: answers[request.messages[0].content], tmp_path)
    assert [replace(reply, seconds=0.0) for reply in replies] == said


def test_replies_are_kept_in_the_drivers_store_and_marked_when_reused(tmp_path):
    first, asked = through_the_server([ask("once")], ["said"], tmp_path)
    again, asked_again = through_the_server([ask("once")], ["never asked"], tmp_path)
    assert (first[0].text, first[0].reused, again[0].text, again[0].reused) == ("said", False, "said", True)
    assert len(asked) == 1 and asked_again == []
    stored = ReplyStore(tmp_path).get(ask("once").id(SOLVER.identity))
    assert stored.text == "said"


def test_two_ranks_that_ask_the_same_are_answered_by_one_call(tmp_path):
    async def body():
        async with served(lambda _: "one answer", tmp_path) as (scripted, url):
            scripted.latency_ms = (50, 50)
            ranks = [ServedLM(url, SOLVER), ServedLM(url, SOLVER)]
            replies = await asyncio.gather(*(rank.generate([ask("same", seed=3)]) for rank in ranks))
            for rank in ranks:
                await rank.close()
            return replies, scripted.asked

    replies, asked = asyncio.run(body())
    assert len(asked) == 1 and {reply[0].text for reply in replies} == {"one answer"}


@pytest.mark.parametrize("kind", ["too_long", "bad_request", "budget", "server", "memory"])
def test_an_error_keeps_its_kind_and_its_words(kind, tmp_path, monkeypatch):
    """A prompt that is too long is the harness's own doing, and it reads the message: that must not become the machine's."""
    monkeypatch.setattr("hbench.engines.openai_lm.FIRST_WAIT_S", 0.01)
    told = LMError(kind, "the prompt has 100 tokens, the context 64")
    (reply,), _ = through_the_server([ask()], lambda _: told, tmp_path)
    assert reply == told


def test_a_model_that_cannot_be_opened_is_an_error_without_the_address(tmp_path, monkeypatch):
    monkeypatch.setattr("hbench.engines.openai_lm.FIRST_WAIT_S", 0.01)

    async def body():
        async with served([], tmp_path) as (_, url):
            pass
        lost = ServedLM(url, SOLVER)  # the driver is gone
        (reply,) = await lost.generate([ask()])
        await lost.close()
        return reply, url

    reply, url = asyncio.run(body())
    assert reply.kind == "connection" and url.split("/")[3] not in reply.message


def test_who_does_not_know_the_path_gets_nothing(tmp_path):
    async def body():
        async with served(["secret"], tmp_path) as (scripted, url), aiohttp.ClientSession() as session:
            root, secret, _ = url.rsplit("/", 2)
            statuses = []
            for path in (f"/{STEP}{CHAT}/models", f"/{secret[:-1]}/{STEP}{CHAT}/models", f"/{secret}/../{STEP}{CHAT}/models", "/"):
                async with session.get(root + path) as answer:
                    statuses.append(answer.status)
            return statuses, len(secret), root

    statuses, length, root = asyncio.run(body())
    assert set(statuses) == {404} and length >= 32 and root.startswith("http://127.0.0.1:")


def test_the_ordinary_chat_client_is_answered_too(tmp_path):
    """`hbench`'s own client without the exact request: what the chat format can say arrives as it is."""
    request = ask("plain chat", seed=9, temperature=0.5, max_tokens=20, top_p=0.8, stop=("x",), extra={"min_p": 0.2})

    async def body():
        async with served(["fine"], tmp_path) as (scripted, url):
            lm, stranger = OpenAILM(Reach(url + CHAT, SOLVER.digest)), OpenAILM(Reach(url + CHAT, "another"))
            await lm.check()
            (reply,), (wrong,) = await lm.generate([request]), await stranger.generate([request])
            await asyncio.gather(lm.close(), stranger.close())
            return reply, wrong, scripted.asked

    reply, wrong, asked = asyncio.run(body())
    assert reply.text == "fine" and asked == [request]
    assert isinstance(wrong, LMError) and "another" in wrong.message


def test_a_body_that_asks_nothing_is_refused(tmp_path):
    async def body():
        async with served([], tmp_path) as (_, url), aiohttp.ClientSession() as session:
            found = []
            for raw in (b"", b"{}", b"[1]", json.dumps({"model": SOLVER.digest, "messages": 3}).encode()):
                async with session.post(url + CHAT + "/chat/completions", data=raw) as answer:
                    found.append((answer.status, (await answer.json())["error"]["message"].split(":")[0]))
            return found

    assert set(asyncio.run(body())) == {(400, "bad_request")}
