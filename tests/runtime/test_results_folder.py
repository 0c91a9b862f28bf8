"""A results folder that cannot be written, one on another file system, and a clock that jumps while one is written."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hbench.core.output import Output
from hbench.store.artifacts import Store
from tests.runtime.test_full_disk import own_mounts
from tests.store.made import contents, key, record, rollout
from tests.world import make_world

pytestmark = pytest.mark.fault
SMALL = ("arms=null", "rounds=0")


@pytest.fixture
def elsewhere(tmp_path):
    """A folder on another file system than `tmp_path`'s."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK) or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second file system that can be written")
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        yield Path(folder)


def test_files_made_on_one_file_system_are_kept_on_another_as_they_are(tmp_path, elsewhere):
    def made(results: Path) -> str:
        source = Path(tempfile.mkdtemp(dir=tmp_path)) / "adapter"
        source.mkdir()
        (source / "weights.bin").write_bytes(bytes(range(256)) * 1000)
        with Store(results).open(key("a")) as part:
            part.append(rollout(1))
            artifact = part.commit(Output(1, files={"adapter": source}), record())
        assert not source.exists() and (artifact.folder / "files/adapter/weights.bin").stat().st_size == 256_000
        return artifact.digest

    assert made(elsewhere / "results") == made(tmp_path / "results")


@pytest.mark.long
def test_a_run_into_another_file_system_gives_the_same_tables(tmp_path, elsewhere):
    world = make_world(tmp_path)
    for results in (str(elsewhere / "results"), "alone"):
        world.hbench("run", "specs/toy.yaml", "-q", "--results", results)
    assert told(elsewhere / "results") == told(tmp_path / "alone")


def told(results: Path) -> dict:
    """Every table's rows but those that tell of a run."""
    return {name: rows for name, rows in contents(results).items() if name not in ("runs", "run_steps", "spend")}


@pytest.mark.long
def test_a_results_folder_that_is_read_only_can_be_read_and_says_that_it_cannot_be_written(tmp_path, tried):
    world = make_world(tmp_path)
    world.hbench("run", "specs/toy.yaml", "-q", *SMALL)
    before = told(tmp_path / "results")
    script = 'mount --bind results results && mount -o remount,bind,ro results && exec "$0" -m hbench "$@"'

    def read_only(*words: str) -> subprocess.CompletedProcess:
        command = [*own_mounts(), "sh", "-c", script, sys.executable, *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    for words in (("run", "specs/toy.yaml", "-q", *SMALL), ("run", "specs/toy.yaml", "-q")):
        tried(f"hbench {' '.join(words)} into a folder that is read-only")
        done = read_only(*words)
        assert done.returncode == 2 and "Read-only file system" in done.stderr and "--results" in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    tried("hbench sql in a folder that is read-only")
    asked = read_only("sql", "select count(*) as n from rollouts", "--format", "json")
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout) == world.sql("select count(*) as n from rollouts")
    assert told(tmp_path / "results") == before


JUMPING = """
import os, random, sys, time
draw, real, touch = random.Random(7), time.time, os.utime
now = lambda: real() + draw.choice([-1e8, -3600, 0, 3600, 1e8])
time.time, time.time_ns = now, lambda: int(now() * 1e9)
os.utime = lambda path, *times, **named: touch(path, *(times or (() if named else ((now(), now()),))), **named)
from hbench.store import lease
lease.HEARTBEAT_S = 0.05
from hbench import cli
cli.main()
"""


@pytest.mark.long
def test_a_clock_that_jumps_all_along_changes_no_table_and_robs_nobody(tmp_path, tried):
    """Two runs of one spec, whose clocks jump by hours and years at each look, also where they date their leases."""
    world = make_world(tmp_path, latency_ms=40)
    command = [sys.executable, "-c", JUMPING, "run", "specs/toy.yaml", "-q"]
    both = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        tried("a run whose clock jumps, beside another one")
        said = process.communicate(timeout=240)[1]
        assert process.returncode == 0, said
    world.hbench("run", "specs/toy.yaml", "-q", "--results", "alone")
    world.hbench("sql", "select 1")  # folds what is left
    assert told(tmp_path / "results") == told(tmp_path / "alone")
