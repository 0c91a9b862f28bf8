"""What counts as said after a thought: the shared case 65 and its kin."""

import json
import time

import pytest

from hbench.core.thinking import after_thinking
from tests.where import cases


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain", "plain"),
        ("<think>a</think>b", "b"),
        ("a</think>b", "b"),  # the template opened the thought
        ("<think>a</think>b<think>c</think>d", "d"),
        ("<think>a", None),
        ("<think>a</think>b<think>c", None),
        ("<think></think>\n\nb", "\n\nb"),
        ("\ufeffb", "b"),
        ("x.split('</think>')[-1]", "x.split('</think>')[-1]"),
        ("the `</think>` tag", "the `</think>` tag"),
        ("<think>a \"</think>\" b</think>c", "c"),
        ("I don't</think>it's", "it's"),
        ("", ""),
    ],
)
def test_only_what_follows_the_last_closed_thought_is_said(text, said):
    assert after_thinking(text) == said


def test_case_65_an_unfinished_thought_leaves_no_answer():
    for line in (cases() / "65-unfinished-thinking-not-graded/pairs.jsonl").read_text().splitlines():
        row = json.loads(line)
        said = after_thinking(row["text"])
        assert (row["extracted"] or "") in (said or "")
        assert row["extracted"] is not None or "boxed" not in (said or "")


def test_long_text_takes_no_long_time():
    started = time.perf_counter()
    after_thinking("\"'`<think>" * 100_000)
    after_thinking("\"" + "x" * 1_000_000)
    assert time.perf_counter() - started < 5
