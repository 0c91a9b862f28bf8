"""What `hbench plan` tells of a distillation: what its models may be asked at most, and which programs run with one's rights."""

import re

import pytest

from hbench.plan import compile
from hbench.plan.show import show
from hbench.spec import load
from tests.world import write_replies

SPEC = """
plan: distillation
name: toy
domain: {kind: toy, name: toy, ask: copy}
splits: {training: 4, evaluation: 3}
target: {turns: 5}
student: {kind: recorded, file: replies/any.jsonl, sampling: {max_tokens: 10}}
let: {any: {kind: recorded, file: replies/any.jsonl, sampling: {max_tokens: 100}}}
arms:
"""
MODEL = "  h_star: {bank: {kind: evolved, evolver: '${let.any}', rounds: 2}}\n"
AGENT = "  h_star: {bank: {kind: evolved, evolver: {kind: command, command: [my-agent, '{workspace}']}, rounds: 2}}\n"
OUTSIDE = "  theirs: {outside: {command: [their-agent, '{instruction}']}}\n"
REVIEWED = "  reviewed: {review: {reviewer: '${let.any}', guidance: {kind: written, bank: {kind: given, folder: banks/b}, writer: '${let.any}'}}}\n"


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """The text of the plan of these arms, with nothing done yet."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs/replies").mkdir(parents=True)
    (tmp_path / "specs/banks/b").mkdir(parents=True)
    (tmp_path / "specs/banks/b/memory.md").write_text("Look first.\n")
    write_replies(tmp_path / "specs/replies/any.jsonl", [{"reply": "Done."}])

    def text(arms: str) -> str:
        (tmp_path / "specs/toy.yaml").write_text(SPEC + arms)
        plan = compile(load("toy")[0])
        return show(plan, {step.id: "to run" for step in plan.steps})

    return text


def calls(text: str, role: str) -> int:
    return int(re.search(rf"all +{role} +([\d,]+) calls", text)[1].replace(",", ""))


def test_a_round_of_evolution_costs_its_rollouts_a_note_each_and_the_tries_of_an_edit(shown):
    text = shown(MODEL)
    assert calls(text, "student") == 2 * 4 * 5 + 3 * 5
    assert calls(text, "evolver") == 2 * (4 + 3)


def test_a_review_costs_its_tries_at_every_turn_and_a_translation_its_tries_for_every_component(shown):
    text = shown(REVIEWED)
    assert (calls(text, "reviewer"), calls(text, "writer")) == (3 * 5 * 3, 3)


@pytest.mark.parametrize(("arms", "words"), [(AGENT, "my-agent {workspace}"), (OUTSIDE, "their-agent {instruction}")])
def test_a_program_with_the_users_rights_is_said_aloud_once(shown, arms, words):
    text = shown(arms)
    assert text.count("WITH YOUR RIGHTS") == 1 and text.count(words) == 1


def test_where_there_is_none_nothing_is_said(shown):
    assert "YOUR RIGHTS" not in shown(MODEL) and "not on this machine" not in shown(MODEL)


def test_tasks_that_are_not_here_are_told_before_anything_is_run(shown, monkeypatch, tmp_path):
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path))
    text = shown("  base: {domain: {kind: uspto}}\n")
    assert "not on this machine:\n  domain uspto: reactions" in text
