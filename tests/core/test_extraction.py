"""Answers out of model text, by the numbers of the shared cases."""

import json

import pytest

from hbench.core.extraction import boxed_answer, last_number, tagged_answer
from tests.where import cases

EXTRACT = {"last_number": last_number, "boxed": boxed_answer, "tag:answer": tagged_answer}
CASES = ("57-comma-as-last-number", "59-boxed-nested-and-last", "61-answer-tags-first-last-broken",
         "64-display-math-and-fbox", "65-unfinished-thinking-not-graded")  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_case_is_read_as_it_says(case):
    lines = (cases() / case / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    read = [(line, EXTRACT[line["kind"]](line["text"])) for line in map(json.loads, lines)]
    assert [(line["text"], found) for line, found in read] == [(line["text"], line["extracted"]) for line, _ in read]


def test_an_answer_inside_a_thought_is_none():
    assert tagged_answer("<think>it is <answer>4</answer></think>so I believe") is None


def test_blanks_inside_an_answer_stay():
    assert tagged_answer("<answer>\n1 2\n3 4\n</answer>") == "1 2\n3 4"


def test_an_answer_that_opens_and_never_closes_is_none_even_behind_a_whole_one():
    assert tagged_answer("<answer>4</answer> or <answer>6") is None


def test_thousands_commas_are_no_part_of_a_number():
    assert last_number("That makes 12,345.") == "12345"
