"""Somebody else's agent in place of the target harness: a program on a copy of the workspace's files."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hbench.core.failure import StepError
from hbench.engines.jail import Jails
from hbench.runtime.acting.outside import OutsideStage, act_outside
from hbench.runtime.acting.patience import Patience
from hbench.steps.act_setting import ActSetting
from tests.engines.jail.lab import jails_of, loop
from tests.runtime.acting import COPY, STUDENT, SUM, params, question

SUMS = "print(sum(int(line) for line in open('in.txt')))"
COPIES = "import shutil; shutil.copy('in.txt', 'out.txt'); print('Done.')"


def outside(code, domain=COPY, *words, wall_s=60.0, jails: Jails | None = None, look=lambda: None):
    """What comes of a Python program with these further words."""
    block = {"command": [sys.executable, "-c", code, *words], "wall_s": wall_s}
    made = params(domain, outside=block)
    setting = ActSetting.of(made, STUDENT)
    stage = OutsideStage(setting, jails or jails_of("auto"), made["domain"], (), look)
    acted = loop().run_until_complete(act_outside(stage, question(domain), 0))
    acted.trajectory.check()
    return acted


def test_what_it_leaves_is_graded_and_what_it_prints_is_the_answer():
    acted = outside(COPIES)
    assert (acted.rollout.answer, acted.rollout.completed, acted.rollout.grades["score"]) == ("Done.", True, 1.0)
    assert [turn.accepted for turn in acted.trajectory.turns] == ["Done."]
    assert outside(SUMS, SUM).rollout.grades["score"] == 1.0


def test_its_words_are_filled_in_and_no_shell_reads_them():
    code = "import os, sys; print(sys.argv[1] == os.getcwd(), sys.argv[2:])"
    acted = outside(code, COPY, "{workspace}", "{instruction}; rm *", "{else} $HOME")
    assert acted.rollout.answer == f"True ['{question().text}; rm *', '{{else}} $HOME']"


def test_its_folder_is_gone_afterwards():
    folder = Path(outside("import os; print(os.getcwd())").rollout.answer)
    assert folder.name.startswith("hbench-outside-") and not folder.exists()


@pytest.mark.parametrize(
    "code, boundary, kind",
    [
        ("import sys; sys.exit('no key')", "harness", "exit"),
        ("pass", "harness", "no_answer"),
        ("import time; print('so', flush=True); time.sleep(60)", "limits", "timeout"),
        ("open('out.txt', 'wb').truncate(20_000_000); print('big')", "limits", "collected"),
    ],
)
def test_its_bad_outcomes_are_failures_and_score_nothing(code, boundary, kind):
    rollout = outside(code, wall_s=1.5 if kind == "timeout" else 60.0).rollout
    assert (rollout.failure.boundary, rollout.failure.kind) == (boundary, kind)
    assert (rollout.completed, rollout.grades["score"]) == (False, 0.0)


def test_one_that_always_ends_with_an_exit_code_is_down():
    """A missing key scored every question 0."""
    block = {"command": [sys.executable, "-c", "import sys; sys.exit('no key')"], "wall_s": 60.0}
    made = params(outside=block)
    stage = OutsideStage(ActSetting.of(made, STUDENT), jails_of("auto"), made["domain"], (), lambda: None, running=Patience(2))
    assert loop().run_until_complete(act_outside(stage, question(), 0)).rollout.failure.kind == "exit"
    with pytest.raises(StepError, match="the agent ended with exit code 1: no key .this was number 2 in a row"):
        loop().run_until_complete(act_outside(stage, question(), 1))


def test_a_link_is_never_read_back(tmp_path):
    """A link to the gold answer, wherever it lies, would score 1."""
    (tmp_path / "gold").write_text(question().answer)
    by_file = outside(f"import os; os.symlink({str(tmp_path / 'gold')!r}, 'out.txt'); print('Done.')")
    assert by_file.rollout.completed and by_file.rollout.grades["score"] == 0.0


LEAVES = """
import os, shutil
shutil.copy('in.txt', 'out.txt')
os.mkfifo('pipe'), os.symlink('/etc', 'etc'), os.symlink('.', 'here'), os.symlink('loop', 'loop'), os.symlink('/dev/zero', 'zero')
open(os.fsdecode(b'\\xff'), 'w'), open('two\\nlines', 'w')
print(os.getcwd())
for _ in range(1200):
    os.mkdir('deep'), os.chdir('deep')
"""


@pytest.mark.attack
def test_whatever_else_it_leaves_is_no_trouble_and_goes_with_its_folder():
    """A deep folder was a crash of the run, in collecting and again in removing it."""
    acted = outside(LEAVES)
    assert acted.rollout.grades["score"] == 1.0 and not Path(acted.rollout.answer).exists()


def test_a_program_that_is_not_there_is_an_error_of_the_step():
    block = {"command": ["no-such-program"], "wall_s": 5.0}
    made = params(outside=block)
    stage = OutsideStage(ActSetting.of(made, STUDENT), jails_of("auto"), made["domain"], (), lambda: None)
    with pytest.raises(StepError, match="no-such-program cannot be started"):
        loop().run_until_complete(act_outside(stage, question(), 0))


def test_it_has_a_harness_id_of_its_own():
    block = {"command": ["agent"], "wall_s": 5.0}
    made = [params(), params(outside=block), params(outside={**block, "command": ["other"]})]
    assert len({ActSetting.of(each, STUDENT).harness.id for each in made}) == 3
    assert replace(ActSetting.of(made[0], STUDENT)).harness.files.keys() == {"target.json"}
