"""The gates of the QA set-up: one tenth on top of exact match, all or nothing."""

import pytest

from hbench.core.candidate import Candidate
from hbench.core.failure import EditFailure, Failure
from hbench.core.harness import Harness
from hbench.core.rollout import Rollout
from hbench.parts.edits.python_block import PythonBlock
from hbench.parts.part import build
from hbench.parts.rewards._total import reward_terms, total
from hbench.parts.rewards.gates import Gates
from hbench.parts.rewards.task_score import TaskScore

pytestmark = pytest.mark.truth
TERMS = {"task_score": TaskScore(), "gates": Gates()}
PARENT = Harness.of("def run(question, tools):\n    return ''\n")
CHILD = Harness.of("def run(question, tools):\n    return '4'\n")


def ran(*ems: float | None) -> tuple[Rollout, ...]:
    """One rollout a grade; None did not complete."""
    return tuple(Rollout("h", str(i), 0, "x", {"em": em or 0.0}, completed=em is not None) for i, em in enumerate(ems))


def tried(harness: Harness | None, rollouts: tuple[Rollout, ...], failure: Failure | None = None) -> Candidate:
    return Candidate(PARENT, "…", harness, failure, rollouts=rollouts, grade="em")


def reward(candidate: Candidate, no_change: str = "form_only") -> float:
    return total(reward_terms(candidate, TERMS, no_change), TERMS)


def test_a_program_that_passes_every_gate_earns_a_tenth_on_top_of_exact_match():
    assert reward(tried(CHILD, ran(1.0, 0.0, 0.0, 0.0))) == pytest.approx(0.25 + 0.1)
    assert reward(tried(CHILD, ran(0.0, 0.0))) == pytest.approx(0.1)


def test_one_question_that_does_not_complete_costs_the_tenth_and_leaves_exact_match_as_measured():
    assert reward(tried(CHILD, ran(1.0, None))) == pytest.approx(0.5)


def test_two_hundred_lines_pass_and_one_more_does_not():
    program = "def run(question, tools):\n    return ''\n"
    for blank, earned in ((198, 1.0), (199, 0.0)):
        assert Gates().value(tried(Harness.of(program + "#\n" * blank), ran(1.0))) == earned


@pytest.mark.parametrize("program", ["def run(question, tools:\n", "def answer(question, tools):\n    return ''\n", ""])
def test_a_program_that_does_not_parse_or_has_no_run_does_not_pass(program):
    assert Gates().value(tried(Harness.of(program), ran(1.0))) == 0.0


def test_run_may_be_bound_by_an_assignment():
    program = "def made():\n    return lambda question, tools: ''\nrun = made()\n"
    assert Gates().value(tried(Harness.of(program), ran(1.0))) == 1.0


def test_nothing_run_earns_nothing():
    assert reward(tried(CHILD, ())) == 0.0


@pytest.mark.parametrize("response", ["no program at all", "```python\ndef run(question, tools:\n```\n"])
def test_a_response_that_gives_no_program_earns_nothing(response):
    edit = PythonBlock()
    with pytest.raises(EditFailure) as bad:
        edit.apply(PARENT, edit.parse(response, "stop"))
    assert reward(tried(None, ran(1.0), bad.value.failure)) == 0.0


def test_a_program_equal_to_its_parent_earns_nothing_unless_the_spec_counts_it_as_the_parent():
    unchanged = tried(None, ran(1.0, 0.0), Failure("apply", "no_change"))
    assert reward(unchanged) == 0.0
    assert reward(unchanged, "as_parent") == pytest.approx(0.5 + 0.1)


def test_weight_and_length_are_fields():
    assert build("rewards", {"kind": "gates", "weight": 0.3, "max_lines": 50, "version": 1}).max_lines == 50
