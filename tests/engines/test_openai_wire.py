"""Bodies and answers of the OpenAI chat format, without a server."""

import json

import pytest

from hbench.core.message import LMError, Message, Request, Sampling
from hbench.engines.openai_wire import body_of, read_choices, read_reply, refusal, server_message
from hbench.engines.stops import cut_at_stop, tidy_stops
from tests.engines.asking import ask
from tests.where import cases


def test_case_103_choices_are_placed_by_index_and_a_missing_one_is_an_error():
    _, _, two, three = json.loads((cases() / "103-empty-choices-and-empty-text" / "responses.json").read_text())
    first, second, third = read_choices(json.dumps(two).encode(), ask(), asked=3)
    assert (first.text, second.text) == ("a", "b") and third.kind == "bad_reply"
    assert [r.text for r in read_choices(json.dumps(three).encode(), ask(), asked=3)] == ["a", "b", "c"]


@pytest.mark.fault
@pytest.mark.parametrize(
    "body",
    [[], None, 3, "text", {}, *({"choices": odd} for odd in (None, {}, [None], ["a"], [{"message": None}]))],
    ids=str,
)
def test_an_odd_body_is_a_bad_reply_and_never_an_exception(body):
    assert read_reply(json.dumps(body).encode(), ask(), 0.0).kind == "bad_reply"


def test_odd_values_beside_the_text_do_no_harm():
    choice = {"message": {"content": "a", "reasoning": 3, "tool_calls": []}, "finish_reason": ["x"], "index": "one"}
    reply = read_reply(json.dumps({"choices": [choice], "usage": {"prompt_tokens": "7"}}).encode(), ask(), 0.0)
    assert (reply.text, reply.finish_reason, reply.prompt_tokens, reply.reasoning) == ("a", "unknown", 0, "")


@pytest.mark.fault
def test_a_deeply_nested_body_is_a_bad_reply():
    assert isinstance(read_reply(b"[" * 100_000, ask(), 0.0), LMError)


def test_content_in_parts_is_joined_and_reasoning_kept_apart():
    message = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "reasoning": "hm"}
    reply = read_reply(json.dumps({"choices": [{"message": message, "finish_reason": None}]}).encode(), ask(), 0.0)
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("ab", "hm", "unknown")


def test_tool_calls_are_kept():
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    body = {"choices": [{"message": {"content": None, "tool_calls": calls}, "finish_reason": "tool_calls"}]}
    reply = read_reply(json.dumps(body).encode(), ask(), 0.0)
    assert (reply.text, reply.finish_reason, reply.tool_calls) == ("", "tool_calls", calls)


def test_a_body_without_stops_has_no_stop_field():
    assert "stop" not in json.loads(body_of(ask(), "tiny"))


def test_the_earliest_stop_cuts_and_the_empty_one_is_nothing():
    assert cut_at_stop("one, two; three", ["; ", ", "]) == ("one", True)
    assert cut_at_stop("one", ["", "two"]) == ("one", False)
    assert tidy_stops(["b", "", "a", "b"]) == ["b", "a"]


@pytest.mark.parametrize(
    "raw, words",
    [
        (b'{"error": {"message": "no", "code": "why"}}', "no why"),
        (b'{"error": "plain"}', "plain"),
        (b'{"detail": [{"loc": ["body"]}]}', "[{'loc': ['body']}]"),
        (b"<html> a\n b </html>", "<html> a b </html>"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_the_servers_own_words_are_found(raw, words):
    assert server_message(raw) == words


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("This model's maximum context length is 2048 tokens. However, you requested 4196 tokens (100 in the messages, 4096 in the completion).", "bad_request"),
        ("This model's maximum context length is 2048 tokens. However, your messages resulted in 2500 tokens.", "too_long"),
        ("maximum context length is 2048 tokens. However, you requested 64 output tokens and your prompt contains at least 3000 input tokens", "too_long"),
        ("maximum context length is 2048 tokens. However, you requested 4096 output tokens and your prompt contains at least 300 input tokens", "bad_request"),
    ],
)  # fmt: skip
def test_a_context_that_only_max_tokens_overflows_is_not_the_harness_s_fault(said, kind):
    """A spec with too large max_tokens gave every question the score 0: it was taken for a prompt that is too long."""
    assert refusal(400, json.dumps({"error": {"message": said}}).encode()).kind == kind


def test_a_proxy_that_takes_no_ordinary_body_is_the_machine_s_fault():
    short = Request((Message("user", "hello"),), Sampling())
    long = Request((Message("user", "x" * 200_000),), Sampling())
    assert refusal(413, b"too large", short).kind == "bad_request"
    assert refusal(413, b"too large", long).kind == "too_long"
