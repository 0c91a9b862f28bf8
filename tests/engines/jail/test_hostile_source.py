"""Harnesses that go for what compiles and loads them, before a question is asked; each with its control."""

import asyncio
import marshal
import random

import pytest

from hbench.core.limits import Limits
from hbench.engines.jail import HarnessJob
from hbench.engines.jail.harness_run import HarnessRun
from tests.engines.jail.lab import CONFINED, GOOD, QUICK, attack, echo, jails_of, loop, run, said
from tests.thorough import often

pytestmark = pytest.mark.attack
CONFINED_ONLY = pytest.mark.parametrize("sandbox", CONFINED)


def finally_in_finally(depth: int) -> str:
    """The compiler writes what stands in a `finally` twice, what stands in one within it four times, and so on."""
    lines = [f"{' ' * level}try: x = 1\n{' ' * level}finally:\n" for level in range(depth)]
    return "".join(lines) + " " * depth + "x = 2\n"


BOMBS = {
    "many brackets": "x = " + "(" * 5000 + ")" * 5000 + "\n",
    "many signs": "x = " + "-" * 100_000 + "1\n",
    "a long sum": "x = " + "+".join(["x"] * 100_000) + "\n",
    "deep blocks": "".join(f"{' ' * level}if x:\n" for level in range(99)) + " " * 99 + "x\n",
    "all is doubled": finally_in_finally(20),
    "no text": "x = '\0'\n",
    "half a character": "x = '\ud800'\n",
}


@CONFINED_ONLY
@pytest.mark.parametrize("what", BOMBS)
def test_a_source_that_breaks_the_compiler_breaks_itself_alone(sandbox, what):
    """It is compiled by a child of its own: the next harness is, too."""
    outcome = attack(sandbox, BOMBS[what] + GOOD, limits=Limits(wall_s=1.0, cpu_s=1.0, memory_mb=128))
    assert said(outcome) in {
        ("harness", "syntax_error"), ("harness", "error"), ("harness", "killed"),
        ("limits", "memory"), ("limits", "timeout"), ("limits", "cpu"),
    }  # fmt: skip


@pytest.mark.control
def test_control_less_of_the_same_compiles():
    less = ["x = " + "(" * 50 + "1" + ")" * 50 + "\n", "x = " + "-" * 50 + "1\n", "x = 1\nx = " + "+".join(["x"] * 50) + "\n"]
    outcomes = run("auto", *(source + GOOD for source in [*less, finally_in_finally(5)]))
    assert [outcome.answer for outcome in outcomes] == ["fine"] * 4


AT_IMPORT = {
    "it never ends": ("while True: pass", ("limits", "timeout")),
    "it ends the process": ("import os; os._exit(0)", ("harness", "exited")),
    "it reads a file": ("x = open('/etc/passwd').read()", ("harness", "error")),
    "it asks before it is asked": ("x = tools.lm('x')", ("harness", "error")),
    "it forks": ("import os; os.fork()", ("harness", "error")),
    "it eats memory": ("x = bytearray(10**9)", ("limits", "memory")),
}


@CONFINED_ONLY
@pytest.mark.parametrize("what", AT_IMPORT)
def test_code_outside_of_run_has_no_more_than_code_inside(sandbox, what):
    code, failure = AT_IMPORT[what]
    assert said(attack(sandbox, f"{code}\n{GOOD}", limits=Limits(wall_s=1.0, memory_mb=256))) == failure


@pytest.mark.control
def test_control_code_outside_of_run_is_run_once_a_question_and_where_it_is_compiled_not_at_all():
    outcomes = run("auto", *[f"print('loaded')\n{GOOD}"] * 3)
    assert [(outcome.answer, outcome.output) for outcome in outcomes] == [("fine", "loaded\n")] * 3


FORGED = marshal.dumps(compile("def run(question, tools):\n    return 'forged'\n", "harness.py", "exec")).hex()
FORGE = f"""
import json, os, struct
def run(question, tools):
    data = json.dumps({{"code": {FORGED!r}}}).encode()
    for _ in range(2):
        os.write(3, struct.pack('>I', len(data)) + data)
    os._exit(0)
"""


@CONFINED_ONLY
def test_what_a_harness_sends_is_never_taken_for_code(sandbox):
    """Neither for the next question of the same harness nor for another harness."""
    first, other, second = run(sandbox, FORGE, GOOD, FORGE)
    assert said(first) == said(second) == ("harness", "protocol") and other.answer == "fine"


def loaded(sandbox: str, *codes: str):
    """(the outcome of each, as what a harness was compiled to, and that of a good harness after them in the same zygote)."""

    async def go():
        jails = jails_of(sandbox)
        zygote = await jails._harness.zygote()
        job = HarnessJob("", "?", {"lm": echo}, QUICK, seed=7)
        found = [await asyncio.wait_for(HarnessRun(job).outcome({"code": code}, zygote), 60) for code in codes]
        after = await jails.run(HarnessJob(GOOD, "?", {}, QUICK))
        assert await jails._harness.zygote() is zygote
        return found, after

    return loop().run_until_complete(go())


def spoilt(count: int) -> list[str]:
    """What is no marshalled code: nothing, halves, other values, and real code in which bytes were changed."""
    real, draw = bytes.fromhex(FORGED), random.Random(0)
    fixed = ["", "00", "no hexadecimal", real[: len(real) // 2].hex(), marshal.dumps(7).hex(), (b"(" + b"\xff" * 4).hex()]
    changed = []
    for _ in range(count):
        some = bytearray(real)
        for _ in range(draw.randint(1, 4)):
            some[draw.randrange(len(some))] = draw.randrange(256)
        changed.append(some.hex())
    return [*fixed, (b"\xa9\x01" * 3000 + b"N").hex(), *changed]


@CONFINED_ONLY
def test_code_that_is_none_ends_its_own_child_alone(sandbox, tried):
    codes = spoilt(often(6, 100))
    for number in range(len(codes)):
        tried(f"spoilt code {number}")
    found, after = loaded(sandbox, *codes)
    assert all(outcome.answer is None for outcome in found[:6]) and after.answer == "fine"


@pytest.mark.control
def test_control_sound_code_is_run():
    assert loaded("auto", FORGED)[0][0].answer == "forged"
