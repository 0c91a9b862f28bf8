"""Grading what a student left: a domain in the grader jail, its files hostile."""

import asyncio
import os

import pytest

from hbench.core.failure import Failure, StepError
from hbench.core.question import Question
from hbench.core.trajectory import Work
from hbench.engines.jail import Jails
from hbench.engines.jail.grade_run import GradeLimits
from tests.engines.jail.lab import CONFINED

DOMAIN = '''
import pickle
from typing import ClassVar, Literal
from hbench.parts.part import Part

class Trusting(Part):
    """Opens what the student left by unpickling it, which runs what is in there."""
    own_process_per_answer: ClassVar[bool] = True
    kind: Literal["trusting"]

    def grade_work(self, work, question):
        left = work.files.get("out.bin")
        if left is not None and left[:1] == b"\\x80":
            left = pickle.loads(left)
        return {"score": float(left == question.answer.encode()), "said": float(work.answer == "done")}
'''
QUESTION = Question.of("trusting", "Write six times seven.", "42", "6 * 7")


@pytest.fixture(autouse=True)
def own_parts(tmp_path, monkeypatch):
    """The working folder has a domain of its own, as a user's would."""
    folder = tmp_path / "parts" / "domains"
    folder.mkdir(parents=True)
    (folder / "trusting.py").write_text(DOMAIN)
    (tmp_path / "secret").write_text("42")
    os.chmod(tmp_path, 0o755)
    monkeypatch.chdir(tmp_path)


def grade(sandbox: str, *works: Work, limits=GradeLimits(timeout_s=20.0, memory_mb=300), **block):
    async def go():
        jails = Jails(sandbox, zygotes=1)
        try:
            return [await jails.grade_work({"kind": "trusting", **block}, work, QUESTION, limits) for work in works]
        finally:
            await jails.close()

    return asyncio.run(go())


@pytest.mark.parametrize("sandbox", [*CONFINED, "none"])
def test_files_and_answer_are_graded(sandbox):
    works = [Work("done", {"out.bin": b"42"}), Work(None, {"out.bin": b"41\xff\0"}), Work("done")]
    assert grade(sandbox, *works) == [
        {"score": 1.0, "said": 1.0},
        {"score": 0.0, "said": 0.0},
        {"score": 0.0, "said": 1.0},
    ]


def running(code: str) -> Work:
    """A file that runs `code` where it is unpickled, and is then its value."""
    return Work("done", {"out.bin": b"\x80\x04cbuiltins\neval\n(V" + code.encode() + b"\ntR."})


ATTACKS = {
    "read a file": "open({0!r} + '/secret', 'rb').read()",
    "write a file": "b'42' if open({0!r} + '/made', 'w') else b''",
    "run a command": "b'42' if __import__('os').system('touch {0}/made') == 0 else b''",
    "connect": "b'42' if __import__('socket').socket() else b''",
    "kill": "b'42' if __import__('os').kill(__import__('os').getppid(), 0) is None else b''",
}


@pytest.mark.parametrize("sandbox", CONFINED)
@pytest.mark.attack
def test_a_hostile_file_reaches_nothing_and_breaks_no_other_grading(sandbox, tmp_path, tried):
    for how in ATTACKS:
        tried(how)
    works = [running(code.format(str(tmp_path))) for code in ATTACKS.values()]
    *verdicts, after = grade(sandbox, *works, Work("done", {"out.bin": b"42"}))
    assert all(isinstance(verdict, Failure) or verdict["score"] == 0.0 for verdict in verdicts), verdicts
    assert not (tmp_path / "made").exists() and after == {"score": 1.0, "said": 1.0}


@pytest.mark.parametrize("how", ATTACKS)
@pytest.mark.attack
@pytest.mark.control
def test_control_the_file_does_what_it_says(how, tmp_path):
    (verdict,) = grade("none", running(ATTACKS[how].format(str(tmp_path))))
    assert verdict == {"score": 1.0, "said": 1.0}


FORGED = """(lambda wire, os: (wire.send(3, {"trouble": "fortytwo", "message": "42"}), os._exit(0)))(
__import__("inside.wire", fromlist="wire"), __import__("os"))""".replace("\n", "")


@pytest.mark.attack
def test_a_file_that_answers_for_its_grader_cannot_spell_gold_in_the_kind_of_its_failure(tried):
    # What a proposer is told of a grader's failure is its kind: any word was taken for one.
    tried("gold as the kind of a failure")
    (verdict,) = grade("auto", running(FORGED))
    assert isinstance(verdict, Failure) and verdict.kind == "crash"


@pytest.mark.attack
@pytest.mark.control
def test_control_such_a_file_does_answer_for_its_grader():
    """In a kind that any grader's failure may have, it is believed."""
    (verdict,) = grade("auto", running(FORGED.replace("fortytwo", "memory")))
    assert (verdict.kind, verdict.message) == ("memory", "42")


@pytest.mark.parametrize(
    ("code", "kind"),
    [("[0 for _ in iter(int, 1)]", "memory timeout"), ("__import__('os').abort()", "crash"), ("b'x' * 10**10", "memory")],
)
@pytest.mark.attack
def test_a_file_that_breaks_its_grading_is_a_failure(code, kind):
    verdict, after = grade("auto", running(code), Work("done", {"out.bin": b"42"}), limits=GradeLimits(5.0, 200))
    assert verdict.boundary == "grader" and verdict.kind in kind and after["score"] == 1.0


PICKLES = {
    "a terabyte is promised": b"\x80\x04\x8e" + (1 << 40).to_bytes(8, "little"),
    "marks without end": b"\x80\x04" + b"(" * 3_000_000,
    "a hundred thousand deep": b"\x80\x04" + b"]" * 100_000 + b"a" * 99_999 + b".",
    "it holds itself": b"\x80\x04]\x94h\x00a.",
    "cut short": b"\x80\x04]",
}


@pytest.mark.attack
def test_a_huge_or_broken_pickle_costs_its_own_grading_alone(tried):
    for what in PICKLES:
        tried(what)
    works = [Work("done", {"out.bin": content}) for content in PICKLES.values()]
    *verdicts, after = grade("auto", *works, Work("done", {"out.bin": b"42"}), limits=GradeLimits(10.0, 200))
    assert all(isinstance(verdict, Failure) or verdict["score"] == 0.0 for verdict in verdicts), verdicts
    assert after == {"score": 1.0, "said": 1.0}


@pytest.mark.parametrize("block", [{"kind": "no_such_domain"}, {"colour": "red"}])
def test_a_domain_that_cannot_be_made_is_an_error_of_the_step(block):
    with pytest.raises(StepError, match="the domain '.*' cannot grade"):
        grade("auto", Work(None), **block)
