"""What the audit says of proposals: by their sources, and by the events of their rollouts."""

import json

import pytest

from hbench.exhibits.flow_edit import edit_marks, harness_form
from hbench.exhibits.flow_proposal import PROPOSAL_MARKS, new_helpers, read_proposal
from hbench.exhibits.flow_trace import calls_one, used_helper
from tests.where import REPO

SEED, TOOL_LOOP, MINI = ((REPO / f"specs/harnesses/{name}.py").read_text() for name in ("seed", "tool_loop", "mini"))


def marks(before: str, after: str) -> set[str]:
    return {mark for mark, has in read_proposal(before, after).marks.items() if has}


def edited(source: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


def test_the_tool_loop_is_an_interpreter_loop():
    assert marks(SEED, TOOL_LOOP) == {"interpreter_loop", "helper"}  # its functions read replies: they compose nothing
    assert marks(SEED, SEED) == set()


def test_a_loop_that_comes_with_a_helper_for_the_question_is_composed():
    after = edited(TOOL_LOOP, ("def run(", SUM), (ASK, ASK + " + str(add_up(question))"))
    assert marks(SEED, after) == {"interpreter_loop", "helper", "composed"}
    assert read_proposal(SEED, after).helpers == {"add_up"}
    handed = edited(TOOL_LOOP, ("def run(", CODE), (RUN, "tools.python(ADD_UP + code)"))
    assert read_proposal(SEED, handed).helpers == {"add_up"}


def test_code_that_answers_without_the_solver_is_a_direct_algorithm():
    assert marks(SEED, "def run(question, tools):\n    return str(sum(map(int, question.split())))\n") == {"algorithm"}
    assert marks(MINI, edited(MINI, ("    # code\n", "    answer = max(numbers(question))\n"))) == {"algorithm"}


def test_fixed_code_that_is_run_on_the_question_is_a_direct_algorithm_too():
    source = "def run(question, tools):\n    return tools.python('print(len(%r))' % question)['stdout']\n"
    assert marks(SEED, source) == {"algorithm"}


def test_code_that_the_solver_writes_is_none():
    source = "def run(question, tools):\n    return tools.python(tools.lm(question) + question)['stdout']\n"
    assert marks(SEED, source) == {"interpreter_loop"}


def test_other_words_for_the_solver_are_a_prompt_change():
    assert marks(SEED, SEED.replace("Put the final answer", "Think, then put the answer")) == {"prompt_change"}


SUM = "def add_up(text):\n    return sum(int(n) for n in re.findall(r'\\d+', text))\n\n\ndef run("
CODE = 'ADD_UP = """\ndef add_up(text):\n    return sum(int(n) for n in text.split())\n"""\n\n\ndef run('
RUN = 'tools.python(code)'
ASK = 'question + "\\n\\n" + INSTRUCTIONS'


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ([(RUN, "tools.python(ADD_UP + code)")], {"composed"}),
        ([(ASK, ASK + " + str(add_up(question))")], {"composed"}),
        ([(ASK, ASK + " + inspect.getsource(add_up)")], {"composed"}),
        ([("tried.add(code)", "tried.add(code)\n        if add_up(code) > 9: continue")], {"composed"}),
        ([("return answer or", "return answer or str(add_up(reply)) or")], {"composed", "helper_answers"}),
        ([("return answer or", "return str(add_up(question)) or")], {"algorithm", "composed", "helper_answers"}),
        ([], set()),
    ],
)
def test_a_helper_is_composed_with_the_loop_where_it_reaches_it(changes, found):
    added = CODE if any("ADD_UP" in new for _, new in changes) else SUM
    after = edited(TOOL_LOOP, ("def run(", added), *changes)
    assert marks(TOOL_LOOP, after) == {"interpreter_loop", "helper", *found}


def test_a_helper_without_the_loop_is_not_composed():
    after = SEED.replace("def run(", SUM).replace("tools.lm(question", "tools.lm(str(add_up(question)) + question")
    assert marks(SEED, after) == {"helper"}


def test_a_function_of_the_parent_or_one_that_asks_the_solver_is_no_helper():
    assert new_helpers(TOOL_LOOP, TOOL_LOOP.replace("TURNS = 6", "TURNS = 9")) == set()
    asks = TOOL_LOOP.replace("def run(", "def ask(tools, text):\n    return tools.lm(text)\n\n\ndef run(")
    assert new_helpers(TOOL_LOOP, asks) == set()
    assert new_helpers(TOOL_LOOP, edited(TOOL_LOOP, ("def run(", CODE))) == {"add_up"}


@pytest.mark.parametrize("source", ["def run(", "x = 1", "\x00"])
def test_what_cannot_be_read_has_no_marks(source):
    assert read_proposal(SEED, source) is None


def test_every_mark_is_explained():
    assert set(read_proposal(SEED, TOOL_LOOP).marks) == set(PROPOSAL_MARKS)


def said(reply: str) -> dict[str, str]:
    return {"kind": "lm", "sent": "[]", "received": reply}


def ran(code: str, printed: str) -> dict[str, str]:
    return {"kind": "python", "sent": code, "received": json.dumps({"stdout": printed, "stderr": "", "ok": True})}


PRELUDE = "def add_up(text):\n    return add_up(text[1:]) if text else 0\n"


def test_a_helper_is_used_where_code_that_calls_it_printed_the_answer():
    events = [said("print(add_up('1'))"), ran(PRELUDE + "print(add_up('1'))", "12\n"), said("<answer>12</answer>")]
    assert used_helper({"add_up"}, False, " 12 ", events)
    assert not used_helper({"add_up"}, False, "2", events)


def test_a_helper_that_is_there_and_not_called_is_not_used():
    events = [said("print(12)"), ran(PRELUDE + "print(12)", "12\n"), said("<answer>12</answer>")]
    assert not used_helper({"add_up"}, True, "12", events)


def test_an_answer_that_nobody_else_gave_is_the_helpers_if_it_may_be():
    events = [said("I do not know")]
    assert used_helper({"add_up"}, True, "12", events)
    assert not used_helper({"add_up"}, False, "12", events)
    assert not used_helper(set(), True, "12", events)
    assert not used_helper({"add_up"}, True, "12", [said("It is 12.")])
    assert not used_helper({"add_up"}, True, "", events)


def test_calls_are_told_from_definitions():
    assert not calls_one(PRELUDE, {"add_up"})
    assert calls_one(PRELUDE + "print(add_up('1'))", {"add_up"})
    assert calls_one("print(add_up('1')", {"add_up"})  # does not parse
    assert not calls_one("def add_up(x", {"add_up"})


def code(lines: str) -> str:
    return edited(MINI, ("    # code\n", lines + "    # code\n"))


@pytest.mark.parametrize(
    ("lines", "bare", "hard_coded"),
    [
        ("    answer = numbers(question)\n", True, False),
        ("    answer = str(calc(question))\n", True, False),
        ("    answer = question\n", True, False),
        ("    return str(last(question))\n", True, False),
        ("    answer = numbers(question)[0]\n", False, False),
        ("    answer = max(numbers(question))\n", False, False),
        ("    x = numbers(question)\n    answer = max(x)\n", False, False),
        ("    answer = 6 * (18 - 3.697)\n", False, True),
        ("    answer = 'True'\n", False, True),
        ("    found = [1, 2]\n    answer = sum(found)\n", False, True),
        ("    answer = answer or 5\n", False, False),
        ("    if question:\n        answer = 1\n", False, False),
        ("    tools.lm('x')\n", False, False),
    ],
)
def test_bare_dumps_and_hard_coded_answers_are_told_by_the_new_lines(lines, bare, hard_coded):
    assert edit_marks(MINI, code(lines)) == {"bare": bare, "hard_coded": hard_coded}


def test_a_change_of_texts_alone_hard_codes_nothing():
    assert edit_marks(SEED, SEED.replace("Put the final", "Give the")) == {"bare": False, "hard_coded": False}
    assert edit_marks(SEED, SEED) == {"bare": False, "hard_coded": False}
    assert edit_marks(SEED, "def run(") is None


def test_two_programs_are_one_but_for_layout_comments_and_local_names():
    one = code("    x = numbers(question)\n    answer = max(x)\n")
    same = code("    # the largest\n    values = numbers(question)\n\n    answer = max( values )\n")
    assert harness_form(one) == harness_form(same)
    assert harness_form(one) != harness_form(code("    x = numbers(question)\n    answer = min(x)\n"))
    assert harness_form(code("    answer = 5\n")) != harness_form(code("    answer = 6\n"))
    assert harness_form("def run(") is None
