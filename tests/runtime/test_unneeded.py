"""`hbench gc`: it shows what goes and asks, and what a spec, a bundle or a late run needs stays."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from hbench.store.lease import Watch
from tests.store.made import contents
from tests.world import SPEC, make_world

OTHER = SPEC.replace("name: toy, ask: sum", "name: other, ask: sum").replace("name: toy\n", "name: other\n")

HELD_OUT = "select * from held_out where spec = 'toy' order by all"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Two specs, each run once, and everything a month old."""
    made = make_world(tmp_path_factory.mktemp("gc"))
    (made.folder / "specs/other.yaml").write_text(OTHER)
    for spec in ("toy", "other"):
        made.hbench("run", f"specs/{spec}.yaml", "-q")
    age(made)
    return made


def age(world) -> None:
    then = time.time() - 30 * 86_400
    for entry in [*(world.folder / "results").rglob("*")]:
        os.utime(entry, (then, then))


@pytest.fixture
def world(ran, tmp_path):
    """A copy of its own."""
    shutil.copytree(ran.folder, tmp_path / "world")
    return type(ran)(tmp_path / "world")


def steps(world) -> int:
    return len([f for f in (world.folder / "results/steps").glob("??/*") if "." not in f.name])


@pytest.mark.slow
def test_nothing_goes_while_the_specs_are_there(world):
    before = steps(world)
    assert "nothing to remove" in world.hbench("gc").stdout
    assert steps(world) == before


@pytest.mark.slow
def test_a_removed_specs_steps_go_after_a_yes_and_the_others_rows_are_as_they_were(world):
    before, scores = steps(world), world.sql(HELD_OUT)
    (world.folder / "specs/other.yaml").unlink()
    asked = subprocess.run(
        [sys.executable, "-m", "hbench", "gc"], cwd=world.folder, input="n\n", capture_output=True, text=True
    )
    assert asked.returncode == 1 and "other" in asked.stdout and "toy" not in asked.stdout and steps(world) == before
    told = world.hbench("gc", "--yes").stdout
    assert "removed: " in told and 0 < steps(world) < before
    assert world.sql(HELD_OUT) == scores
    assert "nothing to remove" in world.hbench("gc").stdout
    assert " ran" not in world.hbench("run", "specs/toy.yaml", "-q").stderr
    assert "no faults" in world.hbench("verify").stdout


def test_what_ran_lately_stays(world):
    (world.folder / "specs/other.yaml").unlink()
    journal = max((world.folder / "results/runs").iterdir())
    os.utime(journal)
    assert "nothing to remove" in world.hbench("gc").stdout


@pytest.mark.slow
def test_what_a_bundle_holds_stays(world):
    world.hbench("export", "other", "--name", "kept")
    (world.folder / "specs/other.yaml").unlink()
    age(world)
    before = steps(world)
    world.hbench("gc", "--yes")
    assert 0 < steps(world) <= before
    held = {row["step_key"] for row in world.sql("select step_key from steps", "results/published/kept")}
    assert held <= {row["step_key"] for row in world.sql("select step_key from steps")}


@pytest.mark.slow
def test_an_edited_specs_newest_run_stays_until_it_is_run_again(world):
    file = world.folder / "specs/other.yaml"
    file.write_text(file.read_text().replace("evaluation: 6", "evaluation: 5"))
    assert "nothing to remove" in world.hbench("gc").stdout
    file.write_text("plan: adaptation\nroundz: 3\n")
    done = world.hbench("gc")
    assert "nothing to remove" in done.stdout and "other.yaml" in done.stderr


@pytest.mark.slow
def test_what_somebody_works_at_stays_and_a_removal_that_was_cut_short_is_ended(world):
    folder = next(f for f in (world.folder / "results/steps").glob("??/*") if "." not in f.name)
    part = folder.with_name("f" * 64 + ".part")
    part.mkdir()
    folder.with_name("e" * 64 + ".gone").mkdir()
    age(world)
    lease = Watch(folder.with_name("f" * 64 + ".lock")).try_take()
    told = world.hbench("gc", "--yes").stdout
    assert "1 are being worked at" in told and part.exists() and not folder.with_name("e" * 64 + ".gone").exists()
    lease.drop()
    before = contents(world.folder / "results")
    assert "removed: 1 steps" in world.hbench("gc", "--yes").stdout and not part.exists()
    assert contents(world.folder / "results") == before
