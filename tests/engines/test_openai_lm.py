"""The engine for OpenAI-compatible servers, against a real server that misbehaves."""

import asyncio
import json
import time
from email.utils import formatdate

import pytest

from hbench.core.failure import HbenchError
from hbench.core.message import LMError, Reply
from hbench.engines import openai_lm
from hbench.engines.openai_lm import OpenAILM, Reach
from tests.engines.asking import ask
from tests.engines.model_server import Answer, said, serving
from tests.where import cases


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(openai_lm, "FIRST_WAIT_S", 0.01)


def exchange(*answers, requests=None, machine=None, **options):
    """(results, the server) after asking a server that gives `answers`."""

    async def run():
        async with serving(*answers, **options) as server:
            lm = OpenAILM(Reach.of("tiny", {"base_url": server.base_url, "retries": 2, **(machine or {})}))
            try:
                return await lm.generate(requests or [ask()]), server
            finally:
                await lm.close()

    return asyncio.run(run())


def test_a_reply_carries_text_finish_reason_tokens_and_seconds():
    (reply,), _ = exchange(said("4"))
    assert (reply.text, reply.finish_reason, reply.prompt_tokens, reply.completion_tokens) == ("4", "stop", 7, 3)
    assert reply.seconds > 0 and not reply.reused


def test_case_98_null_content_cut_by_length_is_an_empty_truncated_reply():
    case = cases() / "98-content-null-length"
    (reply,), server = exchange(Answer(json.loads((case / "response.json").read_text())))
    assert reply.text == "" and reply.truncated and "boxed" in reply.reasoning
    assert len(server.asked) == 1  # not retried


def test_case_101_more_stops_than_a_server_takes_are_cut_here():
    stops = tuple(json.loads((cases() / "101-too-many-stops" / "stops.json").read_text()))
    (reply,), server = exchange(said("fine </answer> more\n\nyet more", "length"), requests=[ask(stop=stops)])
    assert len(server.asked[0]["stop"]) <= 4 and "" not in server.asked[0]["stop"]
    assert reply.text == "fine " and reply.finish_reason == "stop"


def test_case_103_no_choices_is_infrastructure_and_empty_text_is_an_answer():
    empty, true_empty, *_ = json.loads((cases() / "103-empty-choices-and-empty-text" / "responses.json").read_text())
    (error,), server = exchange(Answer(empty))
    assert error.kind == "bad_reply" and len(server.asked) == 3
    (reply,), server = exchange(Answer(true_empty))
    assert reply.text == "" and reply.finish_reason == "stop" and len(server.asked) == 1


def test_case_106_zeros_reach_the_server_as_zeros():
    expected = json.loads((cases() / "106-zero-values-reach-the-server" / "expected.json").read_text())["body_has"]
    _, server = exchange(said("4"), requests=[ask(seed=0, temperature=0, max_tokens=1)])
    assert {key: server.asked[0][key] for key in expected} == expected


@pytest.mark.fault
@pytest.mark.parametrize(
    "bad",
    [
        Answer(b'{"choices": [{"index": 0, "mess'),
        Answer(b"\xff\xfe\x00 not utf-8"),
        Answer(b"<html><body>502 Bad Gateway</body></html>"),
        Answer(b"Internal trouble, try later"),
        Answer({"error": {"message": "overloaded", "code": 429}}),
        said("half a th", "abort"),
        Answer(said("cut off by a dying server").encoded(), cut=40),
    ],
    ids=["half JSON", "no UTF-8", "HTML page", "plain text", "error with status 200", "given up", "half a body"],
)
def test_what_is_no_reply_is_asked_again_and_then_an_error(bad):
    (reply,), server = exchange(bad, said("4"))
    assert reply.text == "4" and len(server.asked) == 2
    (error,), server = exchange(bad)
    assert isinstance(error, LMError) and error.kind == "bad_reply" and len(server.asked) == 3


@pytest.mark.fault
@pytest.mark.parametrize("status, kind", [(429, "rate_limit"), (500, "server"), (503, "server"), (504, "timeout")])
def test_a_busy_or_broken_server_is_asked_again_and_then_an_error(status, kind):
    (reply,), server = exchange(Answer({}, status), Answer({}, status), said("4"))
    assert reply.text == "4" and len(server.asked) == 3
    (error,), _ = exchange(Answer({"error": {"message": "no room"}}, status))
    assert error.kind == kind and "no room" in error.message and "3 tries" in error.message


@pytest.mark.fault
@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_obeyed_in_both_forms(form):
    wait = {"seconds": "1", "date": formatdate(time.time() + 2, usegmt=True)}[form]
    started = time.monotonic()
    (reply,), _ = exchange(Answer({}, 429, {"Retry-After": wait}), said("4"))
    assert reply.text == "4" and time.monotonic() - started >= 0.9


@pytest.mark.fault
@pytest.mark.parametrize("nonsense", ["soon", "-5", "nan", "", "Mon, 99 Foo"])
def test_a_senseless_retry_after_is_no_wait(nonsense):
    assert openai_lm._retry_after(nonsense) == 0.0


def test_retry_after_is_obeyed_up_to_a_minute():
    assert openai_lm._retry_after("86400") == 60.0


@pytest.mark.fault
def test_a_refused_request_is_asked_once_and_tells_the_servers_words():
    long = "max_tokens must be positive " + "x" * 5000
    (error,), server = exchange(Answer({"error": {"message": long}}, 400))
    assert error.kind == "bad_request" and "must be positive" in error.message and len(error.message) < 600
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 2048 tokens. However, you requested 3000 tokens",
        "the request exceeds the available context size. try increasing the context size",
        "The input (9031 tokens) is longer than the model's context length (8192 tokens).",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
def test_a_prompt_beyond_the_context_is_told_apart(words):
    (error,), server = exchange(Answer({"error": {"message": words}}, 400))
    assert error.kind == "too_long" and words[:30] in error.message and len(server.asked) == 1


@pytest.mark.fault
def test_a_slow_server_is_a_timeout_after_its_tries():
    (error,), server = exchange(Answer({}, wait_s=1), machine={"timeout_s": 0.1, "retries": 1})
    assert error.kind == "timeout" and len(server.asked) == 2


@pytest.mark.fault
def test_nobody_at_the_address_is_a_connection_error_that_names_it():
    async def run():
        lm = OpenAILM(Reach.of("tiny", {"base_url": "http://127.0.0.1:9/v1", "retries": 1}))
        results = await lm.generate([ask()])
        with pytest.raises(HbenchError, match="no model server answers at http://127.0.0.1:9/v1"):
            await lm.check()
        await lm.close()
        return results

    (error,) = asyncio.run(run())
    assert error.kind == "connection" and "127.0.0.1:9" in error.message


@pytest.mark.fault
def test_a_wrong_model_name_is_told_with_the_names_there_are():
    (error,), server = exchange(said("4"), models=("other", "third"))
    assert error.kind == "bad_request" and "other, third" in error.message and "'tiny'" in error.message
    assert server.asked == []


def test_a_server_without_a_list_of_models_is_believed():
    (reply,), _ = exchange(said("4"), models=None)
    assert reply.text == "4"


def test_check_is_content_with_a_server_that_knows_the_model():
    async def run():
        async with serving(said("4")) as server:
            lm = OpenAILM(Reach.of("tiny", {"base_url": server.base_url}))
            await lm.check()
            await lm.close()

    asyncio.run(run())


@pytest.mark.fault
def test_one_bad_request_loses_no_other_and_order_is_kept():
    def by_question(body):
        text = body["messages"][0]["content"]
        return Answer({"error": "no"}, 400) if text == "bad" else said(text.upper())

    results, _ = exchange(by_question, requests=[ask("a"), ask("bad"), ask("c")])
    assert [r.text if isinstance(r, Reply) else r.kind for r in results] == ["A", "bad_request", "C"]


def test_no_more_than_max_in_flight_are_under_way():
    many = [ask(str(i)) for i in range(20)]
    _, server = exchange(Answer(said("4").body, wait_s=0.02), requests=many, machine={"max_in_flight": 3})
    assert server.most_in_flight == 3 and len(server.asked) == 20


def test_many_are_under_way_at_once():
    started = time.monotonic()
    exchange(Answer(said("4").body, wait_s=0.2), requests=[ask(str(i)) for i in range(50)])
    assert time.monotonic() - started < 2


def test_the_key_comes_from_its_variable_and_shows_nowhere(monkeypatch):
    monkeypatch.setenv("TINY_KEY", "sk-very-secret")
    refused = Answer({"error": {"message": "bad key sk-very-secret"}}, 401)
    (error,), server = exchange(refused, machine={"api_key_env": "TINY_KEY"})
    assert server.headers[0]["Authorization"] == "Bearer sk-very-secret"
    assert "sk-very-secret" not in error.message and "***" in error.message
    assert "sk-very-secret" not in repr(Reach.of("tiny", {"api_key_env": "TINY_KEY"}))


def test_a_key_that_is_not_set_is_told_at_once(monkeypatch):
    monkeypatch.delenv("TINY_KEY", raising=False)
    with pytest.raises(HbenchError, match="TINY_KEY"):
        Reach.of("tiny", {"api_key_env": "TINY_KEY"})


def test_extra_is_passed_on_and_null_takes_a_field_out():
    _, server = exchange(said("4"), requests=[ask(extra={"min_p": 0, "seed": None})])
    assert server.asked[0]["min_p"] == 0 and "seed" not in server.asked[0]


def test_any_text_goes_there_and_comes_back_but_for_lone_surrogates():
    (reply,), _ = exchange(lambda body: said(body["messages"][0]["content"]), requests=[ask("\ud800\x00é\U0001f600")])
    assert reply.text == "?\x00é\U0001f600"


@pytest.mark.parametrize("url", ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"])
def test_an_address_is_tidied(url):
    assert Reach.of("m", {"base_url": url}).base_url == "http://h:1/v1"


def test_a_port_alone_means_this_machine():
    assert Reach.of("m", {"port": 8101}).base_url == "http://127.0.0.1:8101/v1"
