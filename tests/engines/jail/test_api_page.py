"""Every line of the page that tells the proposer what a harness may do is run."""

import re

import pytest

from hbench.core.failure import ToolError
from hbench.core.limits import Limits
from tests.engines.jail.lab import attack, body, said
from tests.where import REPO

PAGE = (REPO / "prompts" / "report" / "api.j2").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


async def lm(messages, max_tokens=None, temperature=None, stop=None):
    if max_tokens is not None and max_tokens < 1:
        raise ToolError("max_tokens takes a number of at least 1")
    return f"[{messages[-1]['content']}]"


async def python(code, timeout_s=5):
    ok = "range(11)" in code
    return {"stdout": "55\n" if ok else "", "stderr": "" if ok else "no", "ok": ok}


async def search(query, top_k=7):
    return [{"id": str(i), "title": f"T{i}", "text": "t"} for i in range(top_k)]


ANSWERS = [
    "[Answer with one number.\n\n?]",
    "[Now only the answer.]",
    "55",
    "[?]",
    "refused: max_tokens takes a number of at least 1",
]


@pytest.mark.parametrize(("source", "answer"), list(zip(EXAMPLES, ANSWERS, strict=True)))
def test_every_example_runs(source, answer):
    assert attack("auto", source, tools={"lm": lm, "python": python}).answer == answer


def test_search_is_there_where_it_is_offered():
    assert attack("auto", EXAMPLES[3], tools={"lm": lm, "search": search}).answer == "[T0: t\nT1: t\nT2: t\n\n?]"


@pytest.mark.parametrize("name", re.findall(r"`tools\.(\w+)\(", PAGE))
def test_every_signature_is_the_one_on_the_page(name):
    (shown,) = re.findall(rf"`tools\.{name}(\(.*?\)) ->", PAGE, re.DOTALL)
    code = f"import inspect; return str(inspect.signature(tools.{name}))"
    tools = {"lm": lm, "python": python, "search": search}
    found = attack("auto", body(code), tools=tools).answer.split(" ->")[0]
    assert found == " ".join(shown.split())


PROSE = {
    "Nothing is kept": "import math\nmath.x = 1\nreturn 'x'",
    "not a `str`": "return 1",
    "no network": "import socket; socket.socket()",
    "no file to write": "open('x', 'w')",
    "no second process": "import os; os.fork()",
    "no thread": "import threading; threading.Thread(target=print).start()",
    "standard library only": "import numpy",
}


@pytest.mark.parametrize("claim", PROSE)
def test_what_the_prose_says_holds(claim):
    assert claim in PAGE
    outcome = attack("auto", body(PROSE[claim]))
    assert outcome.completed if claim == "Nothing is kept" else said(outcome)[0] == "harness"


def test_waiting_is_free_and_limits_hold_whatever_is_caught():
    assert "waiting for a tool is free" in PAGE and "whatever is caught" in PAGE
    code = "while True:\n    try:\n        tools.lm('x')\n    except BaseException:\n        pass"
    assert said(attack("auto", body(code), tools={"lm": lm}, limits=Limits(calls=3))) == ("limits", "calls")


def test_what_is_printed_is_kept():
    assert "What is printed can be read" in PAGE
    assert attack("auto", body("print('seen')\nreturn 'x'")).output == "seen\n"
