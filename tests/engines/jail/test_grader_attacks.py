"""Answers that are expressions, on every family of the installed reasoning-gym: graded or failed, and none gets out."""

import asyncio
import os
import subprocess
import sys

import pytest

from hbench.core.failure import Failure
from hbench.engines.jail import Jails
from hbench.engines.jail.grade_run import GradeLimits
from tests.thorough import often

pytestmark = [pytest.mark.slow, pytest.mark.attack]
LIMITS = GradeLimits(timeout_s=1.0, memory_mb=1024)
PATIENT = GradeLimits(60.0, 1024)  # of an answer that attacks nothing: a busy machine is no attack's success


def answers(mark: str) -> dict[str, str]:
    """What is tried on every family. `mark`: a file that the first ones would make."""
    return {
        "command": f"__import__('os').system('echo ran > {mark}')",
        "command in a list": f"[__import__('os').system('echo ran > {mark}')]",
        "file": f"open('{mark}', 'w').write('ran')",
        "power": "9**9**9**9",
        "digits": "9" * 10_000_000,
        "surrogate": "\ud800\udfff",
        "NUL": "1\x002",
    }


def families() -> list[str]:
    from hbench.parts.families import _library

    return [name for name in _library.modules() if name != "composite"]


async def attack_all(sandbox: str, names: list[str], mark: str) -> tuple[dict, dict]:
    """(verdict of every attack, verdict of a plain wrong answer after them), by family and name of the attack."""
    from hbench.parts.part import build

    jails = Jails(sandbox, zygotes=2)
    verdicts, after = {}, {}

    for name in names:
        family = build("families", {"kind": "reasoning_gym", "name": name})
        (question,) = family.questions(0, 1, 5)
        block, tried = family.to_json(), answers(mark)
        found = await asyncio.gather(*(jails.grade(block, answer, question, LIMITS) for answer in tried.values()))
        verdicts |= {(name, attack): verdict for attack, verdict in zip(tried, found, strict=True)}
        after[name] = await jails.grade(block, "plain", question, PATIENT)
    await jails.close()
    return verdicts, after


def test_no_answer_gets_out_of_the_grader_of_any_family(tmp_path):
    """`make attack` takes every family, `make slow` one in eight."""
    mark = str(tmp_path / "mark")
    os.chmod(tmp_path, 0o777)
    verdicts, after = asyncio.run(attack_all("auto", families()[:: often(8, 1)], mark))
    assert not os.path.exists(mark)
    for where, verdict in verdicts.items():
        assert isinstance(verdict, Failure) or all(0 <= grade <= 1 for grade in verdict.values()), where
        assert not isinstance(verdict, Failure) or verdict.boundary == "grader", where
    assert {name: verdict for name, verdict in after.items() if not isinstance(verdict, dict)} == {}


@pytest.mark.control
def test_control_in_the_library_s_own_scorer_the_command_runs(tmp_path):
    """Outside of hbench: what the attacks try is no empty threat."""
    mark = str(tmp_path / "mark")
    code = (
        "import reasoning_gym, sys\n"
        "pool = reasoning_gym.create_dataset('n_queens', seed=1, size=1)\n"
        "print(pool.score_answer(sys.argv[1], pool[0]))"
    )
    subprocess.run([sys.executable, "-c", code, answers(mark)["command"]], check=True, capture_output=True)
    assert os.path.exists(mark)
