"""Replies from a file, and from a script."""

import asyncio
import json
import time

import pytest

from hbench.core.failure import HbenchError
from hbench.core.message import LMError, Message, Request, Sampling
from hbench.engines.recorded import RecordedLM
from hbench.engines.scripted import ScriptedLM
from tests.engines.asking import ask


def recorded(folder, *rows) -> RecordedLM:
    file = folder / "replies.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return RecordedLM(file)


def reply_of(lm, request):
    return asyncio.run(lm.generate([request]))[0]


def test_the_first_line_that_fits_answers(tmp_path):
    rows = [{"match": "gcd|lcm", "reply": "number"}, {"match": {"contains": "a+b"}, "reply": "sum"}, {"reply": "any"}]
    lm = recorded(tmp_path, *rows)
    assert [reply_of(lm, ask(text)).text for text in ("the lcm of", "work out a+b", "aab")] == ["number", "sum", "any"]


def test_all_texts_of_contains_must_be_there(tmp_path):
    lm = recorded(tmp_path, {"match": {"contains": ["Family: lcm\n", "math.lcm"]}, "reply": "both"}, {"reply": "else"})
    assert reply_of(lm, ask("Family: lcm\nuse math.lcm")).text == "both"
    assert reply_of(lm, ask("Family: lcm\nuse gcd")).text == "else"


def test_match_looks_at_the_last_user_message_and_family_at_all(tmp_path):
    lm = recorded(tmp_path, {"match": "late", "family": "maze", "reply": "yes"})
    talk = [Message("system", "Family: maze"), Message("user", "late"), Message("assistant", "x")]

    def with_last(text):
        return Request((*talk, Message("user", text)), Sampling())

    assert reply_of(lm, with_last("late again")).text == "yes"
    assert isinstance(reply_of(lm, with_last("again")), LMError)
    assert isinstance(reply_of(lm, Request((Message("user", "late amazement"),), Sampling())), LMError)


def test_the_seed_chooses_among_several_replies_and_equal_requests_get_equal_ones(tmp_path):
    lm = recorded(tmp_path, {"reply": ["a", "b", "c"]})
    assert [reply_of(lm, ask(seed=seed)).text for seed in (0, 1, 2, 3, 1)] == ["a", "b", "c", "a", "b"]


def test_finish_reason_is_played_too(tmp_path):
    assert reply_of(recorded(tmp_path, {"reply": "cut o", "finish_reason": "length"}), ask()).truncated


def test_nothing_that_fits_is_a_bad_request_that_names_the_file(tmp_path):
    error = reply_of(recorded(tmp_path, {"match": "x", "reply": "y"}), ask("what?"))
    assert error.kind == "bad_request" and "replies.jsonl" in error.message and "what?" in error.message


@pytest.mark.parametrize(
    "line, what",
    [
        ("{", "Expecting"),
        ('{"match": "x"}', "'reply' is missing"),
        ('{"reply": 3}', "reply"),
        ('{"reply": []}', "reply"),
        ('{"reply": "a", "mach": "x"}', "unknown key 'mach'"),
        ('{"reply": "a", "match": "("}', "missing )"),
        ('{"reply": "a", "finish_reason": "tired"}', "'tired' is none of stop"),
        ("[1]", ""),
    ],
)
def test_a_line_that_is_none_is_told_with_its_place(tmp_path, line, what):
    file = tmp_path / "replies.jsonl"
    file.write_text('{"reply": "fine"}\n\n' + line + "\n")
    with pytest.raises(HbenchError, match=r"replies\.jsonl:3: ") as told:
        RecordedLM(file)
    assert what in str(told.value)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(HbenchError, match="none.jsonl"):
        RecordedLM(tmp_path / "none.jsonl")


def test_latency_delays_a_reply(tmp_path):
    lm = recorded(tmp_path, {"reply": "a"})
    slow = RecordedLM(lm.file, latency_ms=[100, 120])
    started = time.monotonic()
    assert reply_of(slow, ask()).text == "a" and 0.09 < time.monotonic() - started < 1


def test_a_script_is_handed_out_in_order_and_then_ends():
    lm = ScriptedLM(["a", LMError("server", "down")])
    results = asyncio.run(lm.generate([ask("1"), ask("2"), ask("3")]))
    assert results[0].text == "a" and [r.kind for r in results[1:]] == ["server", "bad_request"]
    assert [r.messages[0].content for r in lm.asked] == ["1", "2", "3"]


def test_a_script_can_be_a_function_of_the_request():
    lm = ScriptedLM(lambda request: request.messages[-1].content.upper())
    assert asyncio.run(lm.generate([ask("abc")]))[0].text == "ABC"
