"""kill -9 at any moment loses nothing, doubles nothing and changes nothing."""

import json
import os
import time
from collections import Counter

import pytest

from hbench.store.tables import TABLES
from tests.runtime.killing import IN_FOLD, IN_HALF, KILLS, WITH_READER, Killer, whole_lines
from tests.world import SPEC, make_world

pytestmark = [pytest.mark.fault, pytest.mark.slow]
SEED = int(os.environ.get("HBENCH_KILL_SEED") or time.time())

LONG = SPEC.replace("evaluation: 6", "evaluation: 40").replace("rounds: 3, proposals: 1", "rounds: 6, proposals: 2")


def table_rows(world, results):
    """table -> its rows without volatile columns, for every table that a run fills but those that tell of tries."""
    found = {}
    for name, table in TABLES.items():
        if name in ("runs", "run_steps", "spend", "folded", "exhibit_cells"):
            continue
        columns = ", ".join(f'"{c.name}"' for c in table.columns if c.name not in table.volatile)
        rows = world.sql(f'select {columns} from "{name}" order by all', results)
        found[name] = rows
    return found


def test_a_scripted_run_killed_again_and_again_gives_the_tables_of_one_left_alone(tmp_path, tried):
    """Random latency, kills drawn uniformly over the run's length; some inside a fold, some beside an open reader."""
    print(f"\nkill seed {SEED}")
    world = make_world(tmp_path, LONG, latency_ms=80)
    spec = world.folder / "specs/toy.yaml"
    spec.write_text(spec.read_text().replace("machine: {", "machine: {fold_s: 0.2, in_flight: 4, "))
    began = time.monotonic()
    world.hbench("run", "specs/toy.yaml", "-q", "--results", "alone")
    length = time.monotonic() - began
    began = time.monotonic()
    world.hbench("run", "specs/toy.yaml", "-q", "--results", "alone")
    startup = time.monotonic() - began
    replies = len(whole_lines(world.folder / "alone"))
    killer = Killer(world, "specs/toy.yaml", length - startup, 0.7 * startup, SEED, replies)
    for i in range(KILLS):
        tried(f"a run killed at a random moment ({i})")
        killer.kill(i)
    print(f"run of {length:.1f} s, start-up {startup:.1f} s, kills: {dict(killer.met)}")
    world.hbench("run", "specs/toy.yaml", "-q")
    assert killer.met["half"] >= IN_HALF and killer.met["fold"] >= IN_FOLD and killer.met["reader"] >= WITH_READER
    ours, theirs = table_rows(world, "results"), table_rows(world, "alone")
    for name in theirs:
        assert ours[name] == theirs[name], name
    assert theirs["rollouts"] and theirs["events"] and theirs["selections"] and theirs["reward_terms"]


EMBEDDED = """
plan: adaptation
extends: [base, models/smollm2_135m]
name: embedded
family: {kind: toy, ask: sum}
splits: {feedback: 4, scoring: 4, evaluation: 30}
harness: harnesses/seed.py
rounds: 1
proposals: 2
evaluate_all: true
solver: {sampling: {max_tokens: 16}}
proposer: {prompt: proposer/search_replace_small, sampling: {max_tokens: 32}}
report: {prompt: report/small, failures: 1}
machine: {fold_s: 0.5, models: {smollm2_135m: {batch: 3}}}
"""


@pytest.mark.long
def test_an_embedded_run_killed_again_and_again_loses_no_reply_and_asks_none_again(tmp_path, tried):
    print(f"\nkill seed {SEED}")
    world = make_world(tmp_path, EMBEDDED)
    startup, length = timed_alone(world)
    alone = len(whole_lines(world.folder / "alone"))
    killer = Killer(world, "specs/toy.yaml", length - startup, startup, SEED, alone)
    seen: dict[str, str] = {}
    kept_steps: dict[str, str] = {}
    for i in range(KILLS):
        tried(f"a run of the embedded model killed at a random moment ({i})")
        killer.kill(i)
        seen = replies_grew(seen, killer.results)
        kept_steps = steps_grew(kept_steps, killer.results)
    print(f"run of {length:.1f} s, first reply after {startup:.1f} s, kills: {dict(killer.met)}, {len(seen)} replies")
    assert seen and kept_steps and killer.met["half"] >= IN_HALF
    world.hbench("run", "specs/toy.yaml", "-q", timeout=300)
    final = replies_grew(seen, killer.results)
    steps_grew(kept_steps, killer.results)
    asked = Counter(json.loads(line)["id"] for line in whole_lines(killer.results))
    assert final and max(asked.values()) == 1, "a finished call was asked again"
    counts = world.sql("select count(*) as n from rollouts")
    assert counts == world.sql("select count(*) as n from rollouts", "alone")


def timed_alone(world):
    """(seconds to the first stored reply, seconds to the end) of a run that nobody kills."""
    began = time.monotonic()
    process = world.start("run", "specs/toy.yaml", "-q", "--results", "alone")
    while not whole_lines(world.folder / "alone") and process.poll() is None:
        time.sleep(0.05)
    first = time.monotonic() - began
    assert process.wait(300) == 0
    return first, time.monotonic() - began


def replies_grew(before, results):
    """Every reply stored before is still there, as it was; gives what is there now."""
    now = {json.loads(line)["id"]: line for line in whole_lines(results)}
    for request, line in before.items():
        assert now.get(request) == line, f"the reply to {request} was lost or changed"
    return now


def steps_grew(before, results):
    """Every committed step is still there, byte for byte."""
    now = {file.parent.name: file.read_text() for file in results.glob("steps/*/*/step.json") if ".part" not in str(file)}
    for key, text in before.items():
        assert now.get(key) == text, f"step {key} was lost or changed"
    return now


MULTIHOP = """
plan: adaptation
extends: [multihop]
name: multihop
family: {kind: toy, ask: sum}
grade: score
harness: harnesses/plain.py
edit: {kind: search_replace}
solver: {kind: recorded, file: replies/solver.jsonl}
proposer: {kind: recorded, file: replies/proposer.jsonl, prompt: proposer/search_replace, sampling: {temperature: 1.0}}
report: {prompt: report/reasoning_gym}
splits: {feedback: 6, scoring: 8, evaluation: 299, redraw: each_round}
rounds: 10
proposals: 8
"""


@pytest.mark.long
def test_a_long_chain_of_whole_rounds_goes_on_after_kills_and_gives_the_same_tables(tmp_path):
    """Ten rounds of eight proposals, questions redrawn each round, 299 held-out ones."""
    world = make_world(tmp_path, MULTIHOP, latency_ms=20)
    began = time.monotonic()
    world.hbench("run", "specs/toy.yaml", "-q", "--results", "alone")
    length = time.monotonic() - began
    killer = Killer(world, "specs/toy.yaml", length, 0.0, SEED)
    for i in (1, 2, 4):
        killer.gaps[i] = max(killer.gaps[i], length / 4)
        killer.kill(i)
    print(f"\nrun of {length:.1f} s, kills: {dict(killer.met)}")
    world.hbench("run", "specs/toy.yaml", "-q")
    ours, theirs = table_rows(world, "results"), table_rows(world, "alone")
    for name in theirs:
        assert ours[name] == theirs[name], name
    assert len({row["step_key"] for row in theirs["selections"]}) == 10
