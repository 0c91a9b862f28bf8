"""A harness and its identity."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core.harness import Harness, no_entry, tidy_source

PROGRAM = "def run(question, tools):\n    return ''\n"


def test_line_ends_trailing_blanks_and_final_lines_do_not_tell_harnesses_apart():
    for other in (PROGRAM.replace("\n", "\r\n"), PROGRAM.replace("\n", "  \n"), PROGRAM + "\n\n", PROGRAM.strip("\n")):
        assert Harness.of(other).id == Harness.of(PROGRAM).id


def test_another_program_has_another_id():
    assert Harness.of(PROGRAM.replace("''", "'a'")).id != Harness.of(PROGRAM).id
    assert Harness({"harness.py": PROGRAM, "memory.md": ""}).id != Harness.of(PROGRAM).id


def test_blanks_inside_a_string_are_kept_and_tell_harnesses_apart():
    text = 'PROMPT = """a  \nb"""\n' + PROGRAM
    assert tidy_source(text) == text
    assert Harness.of(text).id != Harness.of(text.replace("a  \n", "a\n")).id


@pytest.mark.parametrize(
    "source",
    [PROGRAM, "def run(*all): ...", "def run(q, tools, depth=3): ...", "run = print", "from x import solve as run", "from x import *",
     "if True:\n    def run(q, t): ...", "class run: ..."],
)  # fmt: skip
def test_what_can_be_called_as_a_harness_passes(source):
    assert no_entry(source) == ""


@pytest.mark.parametrize("source", ["", "def answer(question, tools): ...", "x = 'run'", "def walk():\n    return running"])
def test_a_file_without_run_is_no_harness(source):
    assert no_entry(source) == "it has no function run(question, tools)"


@pytest.mark.parametrize("source", ["x = 1\ndef run(question): ...", "x = 1\ndef run(question, tools, more): ...", "x = 1\ndef run(): ..."])
def test_run_takes_a_question_and_tools(source):
    assert no_entry(source) == "line 2: run is called with two values, question and tools"


def test_the_id_is_sixteen_hex_digits():
    assert len(Harness.of(PROGRAM).id) == 16 and int(Harness.of(PROGRAM).id, 16) >= 0


def test_files_stand_in_no_order():
    assert Harness({"a": "1", "b": "2"}).id == Harness({"b": "2", "a": "1"}).id


@given(st.text())
def test_tidying_twice_changes_nothing_more_and_any_text_has_an_id(text):
    once = tidy_source(text)
    assert tidy_source(once) == once and Harness.of(text).tidied().id == Harness.of(text).id
