"""Runs whose models vLLM serves, started by hbench: an adapter by its name, deaths, hand-over. Minutes each."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from hbench.engines.embedded import cache_folder
from tests.engines.started import alive
from tests.vllm.place import ADAPTED, ARMS, installed, machine, measured, started
from tests.world import World, make_world

pytestmark = [pytest.mark.long, pytest.mark.slow]
LONGEST_S = 1800
QUESTIONS = 40


@pytest.fixture(autouse=True)
def own_notes(tmp_path, monkeypatch):
    """A cache of its own, but for the model, which takes long to unpack."""
    installed()
    models = cache_folder() / "models"
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/models").symlink_to(models)
    models.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path / "cache"))


def world(tmp_path: Path, spec: str) -> World:
    (tmp_path / "world").mkdir()
    return make_world(tmp_path / "world", spec)


def notes() -> list[Path]:
    return list(Path(os.environ["HBENCH_CACHE"]).glob("servers/*.json"))


def group(leader: int) -> list[int]:
    """The living processes of a server."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found += [int(stat.parent.name)] if int(fields[2]) == leader and fields[0] not in "ZX" else []
    return found


def until_it_replies(here: World, process, most: int = 0) -> int:
    """Waits until more than `most` bytes of replies are stored; gives the server's pid."""
    end = time.monotonic() + LONGEST_S
    while process.poll() is None and time.monotonic() < end:
        if sum(file.stat().st_size for file in here.folder.glob("results/replies/*.jsonl")) > most:
            return int(notes()[0].stem)
        time.sleep(0.05)
    raise AssertionError(process.communicate()[0].decode())


def test_a_server_that_hbench_starts_answers_and_adapters_of_the_mini_study_are_swapped_by_name(tmp_path):
    here = world(tmp_path, ADAPTED + ARMS + machine(smollm2_135m=started(adapters=1)))
    began = time.monotonic()
    done = here.hbench("run", "specs/toy.yaml", timeout=LONGEST_S)
    print(f"\nrun with two adapters: {time.monotonic() - began:.0f} s\n{done.stderr}")
    assert done.stderr.count("starting vLLM") == 1 and notes() == []
    (engine,) = here.sql("select distinct engine from models")
    assert engine["engine"].startswith("vllm 0.")
    said = here.sql("select distinct l.arm, c.response_digest as said from candidates c join run_steps r using (step_key) "
                    "join plan_labels l using (step_id) order by all")  # fmt: skip
    untrained, sft, rl = ({row["said"] for row in said if row["arm"] == arm} for arm in ("untrained", "sft", "rl"))
    assert untrained and sft and rl and not untrained & (sft | rl) and sft != rl, "every adapter is another model"
    assert (here.folder / "results/servers/smollm2_135m.log").read_text().count("Loaded new LoRA adapter") == 2


def test_deaths_are_errors_and_the_same_command_goes_on(tmp_path):
    here = world(tmp_path, measured(QUESTIONS, 16) + machine(in_flight=8, smollm2_135m=started()))
    process = here.start("run", "specs/toy.yaml", "-q")
    server = until_it_replies(here, process)
    processes = group(server)
    os.kill(server, signal.SIGKILL)  # the server alone: its children must be ended by us
    said = process.communicate(timeout=LONGEST_S)[0].decode()
    print(said)
    assert process.returncode == 1 and "was killed (signal 9)" in said and "Traceback" not in said
    assert len(processes) > 1 and not any(map(alive, processes)) and notes() == []
    assert here.sql("select count(*) as n from rollouts where failure is not null") == [{"n": 0}]

    stored = sum(file.stat().st_size for file in here.folder.glob("results/replies/*.jsonl"))
    process = here.start("run", "specs/toy.yaml", "-q")
    server = until_it_replies(here, process, stored)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert len(group(server)) > 1, "nobody ended it yet"

    done = here.hbench("run", "specs/toy.yaml", timeout=LONGEST_S)
    assert "ended a model server that an earlier run left behind" in done.stderr and group(server) == [] and notes() == []
    assert here.sql("select count(*) as n, count(distinct question_id) as q from rollouts where completed") == [{"n": QUESTIONS, "q": QUESTIONS}]
    (reused,) = here.sql("select count(*) as n from events where reused")
    print(f"replies of killed runs that were used again: {reused['n']}")


def test_solver_and_proposer_hand_the_device_over(tmp_path):
    other = ADAPTED.replace("proposer: {", "proposer: {name: other, context: 2000, ")  # other weights, as far as hbench knows
    reach = started(hand_over="stop")
    here = world(tmp_path, other + machine(smollm2_135m=reach, other=reach))
    most, over = [0], threading.Event()

    def look():
        while not over.wait(0.1):
            most.append(len(notes()))

    watching = threading.Thread(target=look)
    watching.start()
    try:
        done = here.hbench("run", "specs/toy.yaml", timeout=LONGEST_S)
    finally:
        over.set()
        watching.join()
    assert max(most) == 1, "never two at once"
    assert done.stderr.count("starting vLLM") >= 2, "solver, proposer, and the solver again where an edit can be tried"
