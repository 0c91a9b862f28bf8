"""A spec means the same everywhere: another process, hash seed, folder, home, time zone and language give the same ids."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.thorough import often
from tests.where import REPO

pytestmark = pytest.mark.truth
SPECS = ["quickstart", "evaluation/fixed_harnesses", "distillation/mini_distil"]
MORE = ["training/mini_far", "qa/invented", "distillation/mini_distil_weak", "adaptation/rg_unseen26"]
COMPILE = """
import hashlib, json, sys
import hbench
from hbench.plan import compile
from hbench.spec import load

found = {"hbench": hbench.__file__}
for name in sys.argv[1:]:
    for spec in load(name):
        plan = compile(spec)
        said = json.dumps([[step.id for step in plan.steps], sorted(map(str, plan.labels))])
        found[f"{name} {spec.name}"] = [spec.digest, len(plan.steps), hashlib.sha256(said.encode()).hexdigest()]
print(json.dumps(found))
"""


def compiled(folder, names, **environment):
    """What another process makes of these specs, in this folder."""
    command = [sys.executable, "-c", COMPILE, *names]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def elsewhere(tmp_path):
    """A folder where hbench lies, and what ships with it: another machine, as far as one machine can be another."""
    for name in ("hbench", "specs", "prompts"):
        shutil.copytree(REPO / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "results").mkdir()
    (tmp_path / "results/published").symlink_to(REPO / "results/published")
    (tmp_path / "home").mkdir()
    return tmp_path


def test_a_spec_has_the_same_plan_ids_on_another_machine(elsewhere, tried):
    names = [*SPECS, *MORE[: often(0, len(MORE))]]
    here = compiled(REPO, names, PYTHONHASHSEED="1", TZ="UTC")
    other = {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONUTF8": "0", "HOME": str(elsewhere / "home")}
    there = compiled(elsewhere, names, PYTHONHASHSEED="20261130", PYTHONPATH=str(elsewhere), **other)
    assert here.pop("hbench") != there.pop("hbench")
    assert here == there and all(steps > 1 for _, steps, _ in here.values())
    for spec in here:
        tried(spec)
