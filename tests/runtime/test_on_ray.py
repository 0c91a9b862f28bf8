"""The same spec on a Ray cluster of several machines, all of them on this one: the same tables, whatever is killed."""

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from hbench.core.failure import StepError
from hbench.runtime.ray_batches import answers, lost_errors, telling_losses
from hbench.runtime.ray_node import _enter
from tests.runtime.test_kill import EMBEDDED, table_rows
from tests.thorough import often
from tests.world import SPEC, World, make_world

pytestmark = pytest.mark.fault

LONG = SPEC.replace("evaluation: 6", "evaluation: 40")
ON_RAY = ("machine.executor=ray", "machine.ray.batch=4", "machine.in_flight=8")


@pytest.fixture(scope="module")
def cluster():
    """A head that runs nothing and two machines; tests may add and kill others. Its processes are not nice: others wait for them."""
    pytest.importorskip("ray", reason="needs the extra 'cluster'")
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={**SMALL, "num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        made.add_node(**SMALL, num_cpus=1)
    os.environ["RAY_ADDRESS"] = made.address
    yield made
    del os.environ["RAY_ADDRESS"]
    made.shutdown()


SMALL = {"object_store_memory": 80 << 20}


def asked(world: World, results: str = "results") -> int:
    return world.sql("select sum(calls + reused_calls) as n from spend", results)[0]["n"]


def killed_one(chance: random.Random) -> bool:
    """kill -9 of a process of ours that Ray started, on whichever machine; False where the run has just ended."""
    found = [each for each in psutil.process_iter(["cmdline"]) if (each.info["cmdline"] or [""])[0].startswith("ray::Node")]
    with suppress(psutil.NoSuchProcess, IndexError):
        chance.choice(found).kill()
        return True
    return False


def until_rollouts(world: World, process: subprocess.Popen, count: int, results: str = "results") -> None:
    """Returns when so many rollouts are on disk."""
    until = time.monotonic() + 240
    while process.poll() is None and time.monotonic() < until:
        parts = [*(world.folder / results / "steps").glob("*/*.part/rows.jsonl")]
        if sum(file.read_bytes().count(b"\n") for file in parts if file.exists()) >= count:
            return
        time.sleep(0.02)
    raise AssertionError(process.communicate()[0].decode() if process.poll() is not None else "no rollouts came")


@pytest.mark.long
def test_a_scripted_run_gives_the_tables_of_one_on_this_machine_alone(cluster, tmp_path):
    world = make_world(tmp_path, LONG)
    world.hbench("run", "specs/toy.yaml", "--results", "alone")
    said = world.hbench("run", "specs/toy.yaml", *ON_RAY, timeout=400).stderr
    assert "Ray: 2 machines, 2 cores" in said
    ours, theirs = table_rows(world, "results"), table_rows(world, "alone")
    for name in theirs:
        assert ours[name] == theirs[name], name
    assert theirs["rollouts"] and theirs["events"] and theirs["selections"]
    assert not [*(world.folder / "results").glob(".driver-*")]


@pytest.mark.long
def test_a_machine_that_is_killed_costs_only_the_rollouts_it_had_not_finished(cluster, tmp_path):
    world = make_world(tmp_path, LONG, latency_ms=150)
    world.hbench("run", "specs/toy.yaml", "--results", "alone")
    doomed = cluster.add_node(**SMALL, num_cpus=1)
    process = world.start("run", "specs/toy.yaml", *ON_RAY)
    until_rollouts(world, process, 20)
    cluster.remove_node(doomed, allow_graceful=False)
    said = process.communicate(timeout=400)[0].decode()
    assert process.returncode == 0, said
    ours, theirs = table_rows(world, "results"), table_rows(world, "alone")
    for name in theirs:
        assert ours[name] == theirs[name], name
    again = asked(world) - asked(world, "alone")
    print(f"\nasked again after the kill: {again} of {asked(world)}")
    assert again <= 2 * 8 * 2, "at most two calls of each rollout that the lost machine had in flight, in batches or steps"


@pytest.mark.long
def test_whatever_the_moment_a_worker_is_killed_the_tables_are_the_same(cluster, tmp_path, tried):
    chance, world = random.Random(seed := random.randrange(10**9)), make_world(tmp_path, LONG, latency_ms=150)
    print(f"\nkill seed {seed}")
    world.hbench("run", "specs/toy.yaml", "--results", "alone")
    theirs, met = table_rows(world, "alone"), 0
    for kill in range(often(2, 10)):
        tried(f"a Ray worker killed at a random moment ({kill})")
        results = f"killed-{kill}"
        process = world.start("run", "specs/toy.yaml", *ON_RAY, "--results", results)
        until_rollouts(world, process, 1, results)
        time.sleep(chance.uniform(0.0, 2.0))
        met += killed_one(chance)
        said = process.communicate(timeout=400)[0].decode()
        assert process.returncode == 0, said
        assert table_rows(world, results) == theirs
    assert met, "every run had ended before the kill"


def test_what_a_lost_process_had_just_made_is_a_loss_too():
    """Ray may not know yet whose it was, and says so by a ValueError: the step failed."""
    pytest.importorskip("ray", reason="needs the extra 'cluster'")
    with pytest.raises(lost_errors()), telling_losses():
        raise ValueError("An application is trying to access a Ray object whose owner is unknown(cb1c26e4).")


@pytest.mark.long
def test_a_process_that_answers_is_not_taken_for_lost(cluster):
    """After one of two was killed both were passed over, and with no step to start no other was put in: the step failed."""
    import ray

    class Here:
        async def here(self) -> bool:
            return True

    ray.init(cluster.address, logging_level="ERROR", log_to_driver=False)
    try:
        node = ray.remote(Here).options(num_cpus=0).remote()
        assert answers(node)
        ray.kill(node)
        assert not answers(node)
    finally:
        ray.shutdown()


@pytest.mark.long
def test_the_embedded_model_makes_the_same_steps_and_as_many_rows(cluster, tmp_path):
    """The driver holds it; the machines ask there, and load nothing."""
    world = make_world(tmp_path, EMBEDDED.replace("evaluation: 30", "evaluation: 8"))
    world.hbench("run", "specs/toy.yaml", "--results", "alone", timeout=400)
    world.hbench("run", "specs/toy.yaml", *ON_RAY, timeout=400)
    ours, theirs = table_rows(world, "results"), table_rows(world, "alone")
    assert {name: len(rows) for name, rows in ours.items()} == {name: len(rows) for name, rows in theirs.items()}
    kinds = "select kind, count(*) as n from steps group by all order by all"
    assert world.sql(kinds) == world.sql(kinds, "alone")


@pytest.mark.long
def test_two_drivers_on_one_cluster_share_the_work(cluster, tmp_path):
    world = make_world(tmp_path, SPEC, latency_ms=40)
    both = [world.start("run", "specs/toy.yaml", "-q", *ON_RAY) for _ in range(2)]
    for process in both:
        said = process.communicate(timeout=400)[0].decode()
        assert process.returncode == 0, said
    assert world.sql("select step_key, count(*) as n from steps group by all having count(*) > 1") == []
    assert world.sql("select count(*) as n from runs where outcome = 'finished'") == [{"n": 2}]
    world.hbench("run", "specs/toy.yaml", "-q", "--results", "alone")
    assert table_rows(world, "results")["rollouts"] == table_rows(world, "alone")["rollouts"]


@pytest.mark.long
def test_a_driver_that_was_killed_is_replaced_by_the_next_one(cluster, tmp_path):
    world = make_world(tmp_path, LONG, latency_ms=100)
    world.hbench("run", "specs/toy.yaml", "--results", "alone")
    process = world.start("run", "specs/toy.yaml", "-q", *ON_RAY)
    until_rollouts(world, process, 20)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    world.hbench("run", "specs/toy.yaml", "-q", *ON_RAY, timeout=400)
    ours, theirs = table_rows(world, "results"), table_rows(world, "alone")
    for name in theirs:
        assert ours[name] == theirs[name], name


@pytest.mark.long
def test_ctrl_c_gives_the_leases_back(cluster, tmp_path):
    world = make_world(tmp_path, LONG, latency_ms=1000)
    process = world.start("run", "specs/toy.yaml", *ON_RAY)
    until_rollouts(world, process, 1)
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 130 and "run the same command to go on" in said and "Traceback" not in said
    assert not [*(world.folder / "results/steps").glob("*/*.lock")]


def test_without_a_cluster_at_the_address_the_user_is_told_how_to_start_one(tmp_path):
    pytest.importorskip("ray", reason="needs the extra 'cluster'")
    done = make_world(tmp_path).hbench("run", "specs/toy.yaml", "machine.executor=ray", "machine.ray.address=nonsense", check=False)
    assert done.returncode == 2 and "ray start --head" in done.stderr and "Traceback" not in done.stderr


def test_a_machine_that_does_not_see_the_results_folder_makes_nothing(tmp_path):
    """It would have made its steps in a folder of its own, and nobody would have found their rows."""
    with pytest.raises(StepError, match="all machines need one results folder"):
        _enter(session_of(tmp_path, proof=tmp_path / "results/.driver-1"))
    with pytest.raises(StepError, match="install the same everywhere"):
        _enter(session_of(tmp_path, proof=tmp_path, version="0"))


def session_of(folder: Path, proof: Path, **facts):
    from hbench.runtime.ray_node import Session
    from hbench.runtime.services import Machine

    return Session("1", folder, proof, Machine(folder / "results"), "http://127.0.0.1:1", 4, {}, **facts)
