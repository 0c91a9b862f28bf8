"""Runs that start a model server: it is there when it is needed, and never after. The server is tests/engines/stand_in.py."""

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.engines.started import alive, python, told
from tests.runtime.killing import kill_tree
from tests.thorough import often
from tests.world import make_world

pytestmark = [pytest.mark.fault, pytest.mark.slow]
SPEC = """
plan: evaluation
name: served
family: {kind: toy}
splits: {evaluation: 6}
harness: harnesses/plain.py
solver: {name: solver, weights: org/tiny, as_of: 2026-11-01}
machine: {models: {solver: {serve: {python: "%s", environment: {STAND_IN: "%s"}}}}}
"""


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "bin").mkdir()

    def made(how: str = ""):
        return make_world(tmp_path / "world", SPEC % (python(tmp_path / "bin"), how))

    (tmp_path / "world").mkdir()
    return made


def ended(world) -> bool:
    """Whether no server of these runs, and no child of one, is left."""
    children = [child for log in world.folder.glob("*/servers/solver.log") for child in told(log, "child")]
    return not any(map(alive, children)) and not list(Path(os.environ["HBENCH_CACHE"]).glob("servers/*"))


def test_a_run_starts_its_server_and_ends_it(world):
    here = world()
    done = here.hbench("run", "specs/toy.yaml")
    assert "starting vLLM for org/tiny" in done.stderr and ended(here)
    assert here.sql("select engine from models") == [{"engine": "vllm 9.9"}]
    assert here.sql("select count(*) as n from rollouts where completed") == [{"n": 6}]


def test_a_finished_run_starts_none(world):
    here = world()
    here.hbench("run", "specs/toy.yaml")
    assert "starting" not in here.hbench("run", "specs/toy.yaml").stderr


def test_a_server_that_dies_fails_the_step_and_the_same_command_goes_on(world):
    here = world("falls")
    done = here.hbench("run", "specs/toy.yaml", check=False)
    assert done.returncode == 1 and "the vLLM server of org/tiny was killed (signal 9) (more in" in done.stderr and ended(here)
    assert "Traceback" not in done.stderr
    assert here.sql("select count(*) as n from rollouts where failure is not null") == [{"n": 0}]
    here.hbench("run", "specs/toy.yaml")
    assert here.sql("select count(*) as n, count(distinct question_id) as q from rollouts") == [{"n": 6, "q": 6}]


def test_a_step_that_is_tried_again_finds_it_started_again(world):
    here = world("falls")
    done = here.hbench("run", "specs/toy.yaml", "--retry-failed", "1")
    assert done.stderr.count("starting vLLM") == 2 and ended(here)


def test_the_server_of_a_killed_run_is_ended_by_the_next(world):
    here = world("hangs")
    process = here.start("run", "specs/toy.yaml")
    log, until = here.folder / "results/servers/solver.log", time.monotonic() + 60
    while not (log.exists() and told(log, "child")) and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    kill_tree(process)
    assert not ended(here)
    (here.folder / "specs/toy.yaml").write_text((here.folder / "specs/toy.yaml").read_text().replace("hangs", ""))
    done = here.hbench("run", "specs/toy.yaml")
    assert "ended a model server that an earlier run left behind" in done.stderr and ended(here)


@pytest.mark.long
def test_whatever_the_moment_a_server_is_killed_there_is_no_score_and_the_same_command_goes_on(world, tried):
    chance, here = random.Random(seed := random.randrange(10**9)), world("slow")
    print(f"\nkill seed {seed}")
    for kill in range(often(2, 10)):
        tried(f"a model server killed at a random moment ({kill})")
        results = f"killed-{kill}"
        log, until = here.folder / results / "servers/solver.log", time.monotonic() + 60
        process = here.start("run", "specs/toy.yaml", "-q", "--results", results)
        while not (log.exists() and told(log, "child")) and time.monotonic() < until:
            time.sleep(0.02)
        server = psutil.Process(told(log, "child")[0]).parent()
        assert server is not None and any(word.endswith("stand_in.py") for word in server.cmdline())
        time.sleep(chance.uniform(0.0, 2.0))
        with suppress(psutil.NoSuchProcess):  # the run may have ended it
            server.kill()
        said = process.communicate(timeout=120)[0].decode()
        assert process.returncode in (0, 1) and "Traceback" not in said, said
        assert here.sql("select count(*) as n from rollouts where failure is not null", results) == [{"n": 0}]
        here.hbench("run", "specs/toy.yaml", "-q", "--results", results)
        assert here.sql("select count(*) as n, count(distinct question_id) as q from rollouts", results) == [{"n": 6, "q": 6}]
        assert ended(here)


def test_a_problem_of_the_serve_block_has_its_line(world):
    here = world()
    spec = here.folder / "specs/toy.yaml"
    spec.write_text(spec.read_text().replace("{serve: {", "{base_url: 'http://h/v1', serve: {arguments: {port: 1}, "))
    said = here.hbench("check", "specs/toy.yaml", check=False)
    assert said.returncode == 2 and "port is not said here (port)" in said.stdout + said.stderr
    spec.write_text(spec.read_text().replace("arguments: {port: 1}, ", ""))
    said = here.hbench("check", "specs/toy.yaml", check=False)
    assert "names another way to reach the model (leave base_url out" in said.stdout + said.stderr


def test_solver_and_proposer_take_turns_on_one_device(world):
    here = world()
    spec = here.folder / "specs/toy.yaml"
    reach = spec.read_text().partition("{serve: {")[2].rstrip().removesuffix("}}")
    reach = "{serve: {hand_over: sleep, " + reach
    adapted = (
        "plan: adaptation\nfamily: {kind: toy}\nharness: harnesses/plain.py\nrounds: 2\nproposals: 2\n"
        "splits: {feedback: 3, scoring: 3, evaluation: 3}\n"
        "solver: {name: solver, weights: org/tiny, as_of: 2026-11-01}\n"
        "proposer: {name: proposer, weights: org/other, as_of: 2026-11-01, prompt: proposer/search_replace}\n"
    )
    spec.write_text(adapted + f"machine: {{models: {{solver: {reach}, proposer: {reach}}}}}\n")
    done = here.hbench("run", "specs/toy.yaml")  # the stand-in answers nobody while it sleeps
    assert done.stderr.count("starting vLLM") == 2 and ended(here)
    assert "asleep" in (here.folder / "results/servers/solver.log").read_text()
