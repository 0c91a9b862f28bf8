"""The shared cases about running a program: 130, 132, 135, 136, by number."""

import json
import subprocess
import sys

import pytest

from hbench.core.failure import StepError
from hbench.core.limits import Limits
from tests.engines.jail.lab import CONFINED, GOOD, attack, body, python, run, said
from tests.where import cases

BOTH = pytest.mark.parametrize("sandbox", [*CONFINED, "none"])


def case(number: int) -> tuple[str, dict]:
    """The harness of a case, and what is expected of it."""
    (folder,) = cases().glob(f"{number}-*")
    return (folder / "harness.py").read_text(), json.loads((folder / "expected.json").read_text())


def alive(seconds: str) -> int:
    """How many `sleep <seconds>` are there, on the whole machine."""
    import psutil

    return sum(p.info["cmdline"] == ["sleep", seconds] for p in psutil.process_iter(["cmdline"]))


@BOTH
@pytest.mark.attack
def test_130_a_timeout_takes_the_grandchildren_along(sandbox):
    """Confined, there is no grandchild to begin with, and trying is the error; unconfined, it dies with its parent."""
    source, expected = case(130)
    own_sleep = "61.5"  # so that other tests' sleeps are not counted
    source = source.replace('"60"', f'"{own_sleep}"')
    outcome = attack(sandbox, source, limits=Limits(wall_s=expected["time_limit_s"], cpu_s=10))
    assert outcome.seconds < expected["wall_s_max"] and alive(own_sleep) == expected["left_processes"]
    assert said(outcome) == (("limits", "timeout") if sandbox == "none" else ("harness", "error"))


@pytest.mark.parametrize("sandbox", ["namespaces", "none"])
@pytest.mark.attack
def test_130_in_the_python_tool_too(sandbox):
    own_sleep = "62.5"
    flee = "os.setsid()" if sandbox != "none" else "pass"
    code = f"import os, time\nif os.fork() == 0:\n    {flee}\n    time.sleep({own_sleep})\nwhile True: pass"
    (result,) = python(sandbox, code, timeout_s=1.0)
    assert not result["ok"] and "stopped after 1 s" in result["stderr"]
    assert alive(own_sleep) == 0


@BOTH
@pytest.mark.attack
def test_132_exit_inside_run_is_a_failure_and_the_next_question_runs(sandbox):
    outcome, after = run(sandbox, case(132)[0], GOOD)
    assert said(outcome) == ("harness", "exited") and outcome.answer is None and after.completed


@BOTH
@pytest.mark.attack
def test_135_broken_output_bytes_are_replaced_and_cut(sandbox):
    source, expected = case(135)
    outcome = attack(sandbox, source)
    assert outcome.answer == expected["answer"] and outcome.output.startswith("��xxx")
    assert len(outcome.output.encode()) <= expected["log_bytes_max"]


@pytest.mark.attack
@pytest.mark.control
def test_control_132_and_135_in_a_plain_process_it_is_ended_and_its_bytes_come_as_they_are():
    ended, broken = (
        subprocess.run([sys.executable, "-c", f"{case(number)[0]}\nrun('', None)\nprint('after')"], capture_output=True)
        for number in (132, 135)
    )
    assert b"after" not in ended.stdout
    assert b"\xff" in broken.stdout and len(broken.stdout) > case(135)[1]["log_bytes_max"]


@BOTH
def test_136_an_exception_that_cannot_be_told_is_told_by_its_type(sandbox):
    source, expected = case(136)
    outcome, after = run(sandbox, source, GOOD)
    assert said(outcome) == ("harness", "error") and after.completed
    assert outcome.failure.message == f"{expected['error_type']}: <no text> (harness.py, line 7)"


def test_136_a_model_that_is_down_is_infrastructure():
    async def down(messages):
        raise StepError("the LM service is down")

    with pytest.raises(StepError):
        run("auto", body("return tools.lm('x')"), tools={"lm": down})
