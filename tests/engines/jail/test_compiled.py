"""A harness is compiled once for all its questions, and nobody can tell."""

import pytest

from hbench.core.failure import Failure
from tests.engines.jail.lab import CONFINED, run

COUNTING = "seen = []\n\ndef run(question, tools):\n    seen.append(question)\n    return f'{len(seen)} {question}'\n"


@pytest.mark.parametrize("sandbox", CONFINED)
def test_each_question_runs_the_whole_file_anew(sandbox):
    assert [outcome.answer for outcome in run(sandbox, COUNTING, COUNTING, question="q")] == ["1 q", "1 q"]


def test_a_warning_of_the_compiler_is_in_the_output_of_every_question():
    outcomes = run("namespaces", *["def run(question, tools):\n    return 'x' if question is 'q' else 'y'\n"] * 2)
    assert all('SyntaxWarning: "is" with a literal' in outcome.output for outcome in outcomes)


def test_what_does_not_compile_is_said_of_every_question():
    outcomes = run("namespaces", *["def run(question, tools)\n    return 'x'\n"] * 2)
    assert [outcome.failure for outcome in outcomes] == [Failure("harness", "syntax_error", "SyntaxError: expected ':', line 1")] * 2


def test_a_trouble_at_run_time_names_its_line():
    (outcome,) = run("namespaces", "def run(question, tools):\n    return 1 / 0\n")
    assert outcome.failure.message == "ZeroDivisionError: division by zero (harness.py, line 2)"
