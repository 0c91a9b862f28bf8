"""The grader jail: gold and answer in, numbers out. A small family stands in for a library that evaluates answers."""

import asyncio
import os

import pytest

from hbench.core.failure import Failure, StepError
from hbench.core.question import Question
from hbench.engines.jail import Jails
from hbench.engines.jail.grade_run import GradeLimits
from tests.engines.jail.lab import CONFINED

CONFINED_ONLY = pytest.mark.parametrize("sandbox", CONFINED)
FAMILY = '''
from typing import ClassVar, Literal
from hbench.parts.part import Part

class Gullible(Part):
    """Grades by evaluating the answer, as some libraries do; or does what `how` says."""
    own_process_per_answer: ClassVar[bool] = True
    kind: Literal["gullible"]
    how: str = "evaluate"

    def grade(self, answer, question):
        if not answer:
            return {"score": 0.0}
        if self.how == "evaluate":
            return {"score": float(eval(answer) == question.answer)}
        return eval(self.how)
'''
PATIENT = FAMILY.replace("Gullible", "Patient").replace("gullible", "patient").replace("bool] = True", "bool] = False")
QUESTION = Question.of("gullible", "6 * 7?", 42, "6 * 7")


@pytest.fixture(autouse=True)
def own_parts(tmp_path, monkeypatch):
    """The working folder has a family of its own, as a user's would."""
    folder = tmp_path / "parts" / "families"
    folder.mkdir(parents=True)
    (folder / "gullible.py").write_text(FAMILY)
    (folder / "patient.py").write_text(PATIENT)
    (tmp_path / "secret").write_text("canary")
    os.chmod(tmp_path, 0o755)
    monkeypatch.chdir(tmp_path)


def grade(sandbox: str, *answers: str, limits=GradeLimits(timeout_s=1.5, memory_mb=300), **block):
    async def go():
        jails = Jails(sandbox, zygotes=1)
        try:
            return [await jails.grade({"kind": "gullible", **block}, answer, QUESTION, limits) for answer in answers]
        finally:
            await jails.close()

    return asyncio.run(go())


@pytest.mark.parametrize("sandbox", [*CONFINED, "none"])
@pytest.mark.parametrize("kind", ["gullible", "patient"])
def test_an_answer_is_graded(sandbox, kind):
    assert grade(sandbox, "42", "41", "6 * 7", kind=kind) == [{"score": 1.0}, {"score": 0.0}, {"score": 1.0}]


ATTACKS = {
    "run a command": ("__import__('os').system('touch ' + {!r})", "crash or wrong"),
    "read a file": ("open({!r}).read() and 42", "crash"),
    "write a file": ("open({!r}, 'w') and 42", "crash"),
    "connect": ("__import__('socket').socket() and 42", "crash"),
    "fork": ("__import__('os').fork() >= 0 and 42", "crash"),
    "kill": ("__import__('os').kill(__import__('os').getppid(), 9) or 42", "crash"),
}


@CONFINED_ONLY
@pytest.mark.parametrize("what", ATTACKS)
@pytest.mark.attack
def test_an_answer_that_is_an_expression_reaches_nothing(sandbox, what, tmp_path):
    answer = ATTACKS[what][0].format(str(tmp_path / "secret" if what == "read a file" else tmp_path / "made"))
    verdict, after = grade(sandbox, answer, "42")
    assert verdict == {"score": 0.0} or (verdict.boundary, verdict.kind) == ("grader", "crash")
    assert not (tmp_path / "made").exists() and after == {"score": 1.0}


@pytest.mark.parametrize("what", ["run a command", "read a file", "write a file", "connect", "fork"])
@pytest.mark.attack
@pytest.mark.control
def test_control_the_expression_does_what_it_says(what, tmp_path):
    answer = ATTACKS[what][0].format(str(tmp_path / "secret" if what == "read a file" else tmp_path / "made"))
    (verdict,) = grade("none", answer)
    assert (tmp_path / "made").exists() if what in ("run a command", "write a file") else verdict == {"score": 1.0}


@CONFINED_ONLY
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("9**9**9**9", "timeout"),
        ("[0 for _ in iter(int, 1)]", "memory or timeout"),
        ("bytearray(10**9)", "memory"),
        ("__import__('os')._exit(0)", "crash"),
        ("__import__('os').abort()", "crash"),
        ("__import__('sys').exit()", "crash"),
        ("1 / 0", "crash"),
        ("(" * 10000, "crash"),
        ("1" * 10_000_000, "crash"),
        ("\0", "crash"),
        ("\ud800", "crash"),
        ("type('E', (Exception,), {'__str__': lambda s: 1 / 0})()", "wrong"),
        ("[].__class__.__base__.__subclasses__()", "wrong"),
    ],
    ids=lambda value: value[:20].encode("unicode_escape").decode(),
)
@pytest.mark.attack
def test_an_answer_that_breaks_its_grader_breaks_no_other(sandbox, answer, kind):
    verdict, after = grade(sandbox, answer, "42")
    found = verdict.kind if isinstance(verdict, Failure) else "wrong" if verdict == {"score": 0.0} else verdict
    assert found in kind and after == {"score": 1.0}


@pytest.mark.parametrize(
    "how",
    ["float('nan')", "1.1", "-0.1", "'x'", "None"],
)
@pytest.mark.attack
def test_what_is_no_grade_in_0_1_is_a_crash_of_the_grader(how):
    for said in (f"{{'score': {how}}}", "{}", "3", "None"):
        (verdict,) = grade("auto", "x", how=said)
        assert isinstance(verdict, Failure) and (verdict.boundary, verdict.kind) == ("grader", "crash")


def test_one_worker_serves_many_answers_until_one_breaks_it():
    pids = grade("auto", *["x"] * 3, kind="patient", how="{'score': 0.0, str(__import__('os').getpid()): 1.0}")
    assert pids[0] == pids[1] == pids[2]
    verdicts = grade("auto", "42", "9**9**9**9", "42", "bytearray(10**9)", "42", kind="patient")
    found = [v["score"] if isinstance(v, dict) else v.kind for v in verdicts]
    assert found == [1.0, "timeout", 1.0, "memory", 1.0]


def test_each_answer_has_a_process_of_its_own_where_answers_are_evaluated():
    first, second = grade("auto", "x", "x", how="{'score': 0.0, str(__import__('os').getpid()): 1.0}")
    assert first != second


@pytest.mark.parametrize("block", [{"kind": "no_such_family"}, {"kind": "gullible", "colour": "red"}])
def test_a_family_that_cannot_be_made_is_an_error_of_the_step(block):
    with pytest.raises(StepError, match="cannot grade"):
        grade("auto", "42", **block)


SEES_THE_KEY = "{'score': float('canary' in repr(dict(__import__('os').environ)))}"


@pytest.mark.attack
def test_the_grader_has_no_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    (verdict,) = grade("auto", "x", how=SEES_THE_KEY)
    assert verdict == {"score": 0.0}


@pytest.mark.attack
@pytest.mark.control
def test_control_in_this_process_there_is_one(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    assert eval(SEES_THE_KEY) == {"score": 1.0}
