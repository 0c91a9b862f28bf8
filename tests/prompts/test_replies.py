"""The hand-written edits that ship: each applies to the seed, and solves its family without any model."""

import asyncio
import json

import pytest

from hbench.core.harness import Harness
from hbench.core.message import LMError, Request, Sampling
from hbench.core.places import find_file
from hbench.core.prompt import load_prompt, render
from hbench.engines.recorded import RecordedLM
from hbench.parts.edits.search_replace import SearchReplace
from hbench.parts.families.reasoning_gym import ReasoningGym

SEED = Harness.of(find_file("specs", "harnesses/seed.py").read_text())
FILE = find_file("specs", "replies/quickstart.jsonl")
FAMILIES = ["products", "lcm", "gcd", "word_sequence_reversal", "decimal_chain_sum", "chain_sum"]
QUESTIONS = 30


def replied(family: str, harness: Harness, prompt: str = "proposer/search_replace_small"):
    """What the recorded proposer says of this harness."""
    values = {"family": {"name": family, "description": "…"}, "harness": harness.text, "report": "Score 0.1."}
    messages = render(load_prompt(prompt), values | {"edit": SearchReplace().to_json()})
    return asyncio.run(RecordedLM(FILE).generate([Request(tuple(messages), Sampling())]))[0]


def edited(family: str, harness: Harness) -> Harness:
    edits = SearchReplace()
    return edits.apply(harness, edits.parse(replied(family, harness).text, "stop"))


def score(family: str, harness: Harness) -> float:
    """Mean grade. The harness is our own text and needs no solver."""
    part = ReasoningGym(kind="reasoning_gym", name=family)
    names: dict = {}
    exec(harness.text, names)
    questions = part.questions(0, QUESTIONS, 2024)
    return sum(part.grade(names["run"](q.text, None), q)["score"] for q in questions) / QUESTIONS


@pytest.mark.parametrize("family", FAMILIES)
def test_the_first_edit_solves_the_family_and_the_second_keeps_it_so(family):
    first = edited(family, SEED)
    second = edited(family, first)
    assert first.id != second.id and (score(family, first), score(family, second)) == (1.0, 1.0)


@pytest.mark.parametrize("family", FAMILIES)
def test_after_the_second_edit_a_question_worded_otherwise_goes_to_the_solver(family):
    class Tools:
        def lm(self, text):
            return "<answer>asked</answer>"

    names: dict = {}
    exec(edited(family, edited(family, SEED)).text, names)
    assert names["run"]("Nothing to count here.", Tools()) == "asked"


def test_every_row_says_that_a_person_wrote_it():
    assert {json.loads(line)["label"] for line in FILE.read_text().splitlines()} == {"hand-written"}


@pytest.mark.parametrize("prompt", ["proposer/search_replace", "proposer/search_replace_tools"])
def test_every_search_replace_prompt_finds_its_reply(prompt):
    assert "math.prod" in replied("products", SEED, prompt).text


def test_no_other_family_gets_an_edit():
    assert isinstance(replied("sudoku", SEED), LMError)
