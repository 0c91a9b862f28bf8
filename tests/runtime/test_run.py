"""Running: what is finished is not run again, trouble stops its own step, a stop is clean."""

import os
import signal
import time

import pytest

from tests.server import ModelServer
from tests.world import ASKS_TWICE, SPEC, make_world, write_replies


@pytest.fixture
def world(tmp_path):
    return make_world(tmp_path)


def statuses(done):
    """{"ran": 3, "cached": 2 …} from the last line that a run prints."""
    line = next(x for x in reversed(done.stderr.splitlines()) if " in " in x and "(run " in x)
    return {word.split()[1]: int(word.split()[0]) for word in line.split(": ", 1)[1].split("  (")[0].split(", ")}


def test_the_same_command_again_runs_nothing(world):
    world.hbench("run", "specs/toy.yaml")
    assert set(statuses(world.hbench("run", "specs/toy.yaml"))) == {"cached"}


def test_one_more_round_runs_only_what_is_new(world):
    first = statuses(world.hbench("run", "specs/toy.yaml"))
    again = statuses(world.hbench("run", "specs/toy.yaml", "arms.sequential.rounds=4"))
    assert again["cached"] >= sum(first.values()) - 2
    assert 0 < again["ran"] <= 8


def test_another_selection_rule_scores_nothing_again(world):
    world.hbench("run", "specs/toy.yaml", "arms=null", "rounds=1")
    before = world.sql("select count(*) as n from rollouts")
    world.hbench("run", "specs/toy.yaml", "arms=null", "rounds=1", "selection={kind: best_candidate}")
    assert world.sql("select count(*) as n from rollouts") == before


def test_equal_candidates_are_run_once(world):
    same = world.folder / "specs/replies/proposer.jsonl"
    write_replies(same, [{"reply": [ASKS_TWICE]}])
    world.hbench("run", "specs/toy.yaml", "arms=null", "rounds=1", "proposals=4")
    found = world.sql("select count(distinct r.step_key) as n, count(distinct l.step_id) as steps from plan_labels l "
                      "join run_steps r using (step_id) where l.purpose = 'candidate_scoring'")  # fmt: skip
    assert found == [{"n": 1, "steps": 4}]


def test_a_limited_run_is_marked_and_kept_apart(world):
    world.hbench("run", "specs/toy.yaml", "--limit", "2")
    world.hbench("run", "specs/toy.yaml")
    limits = world.sql("select limited, count(distinct spec_digest) as n from runs group by all order by all")
    assert limits == [{"limited": 2, "n": 1}, {"limited": None, "n": 1}]
    assert world.sql("select count(distinct spec_digest) as n from specs") == [{"n": 2}]


def test_failed_edits_keep_the_parent_and_are_counted(world):
    world.hbench("run", "specs/toy.yaml")
    outcomes = {r["outcome"] for r in world.sql("select distinct outcome from candidates")}
    assert "applied" in outcomes and outcomes <= {"applied", "search_not_found", "no_edit_blocks"}
    kept = world.sql("select kept_parent, parent_id = chosen_id as same from selections")
    assert kept and all(row["kept_parent"] == row["same"] for row in kept)


SERVED = """
plan: evaluation
name: served
family: {kind: toy}
splits: {evaluation: 5}
harness: harnesses/plain.py
solver: {name: solver, weights: solver, as_of: 2026-11-01}
arms:
  served: {}
  recorded: {solver: {kind: recorded, file: replies/solver.jsonl}}
machine: {models: {solver: {base_url: "%s", retries: 0, timeout_s: 5}}}
"""


def test_a_server_that_is_down_is_no_score_and_the_rest_goes_on(tmp_path):
    world = make_world(tmp_path, SERVED % "http://127.0.0.1:9/v1")
    done = world.hbench("run", "specs/toy.yaml", check=False)
    assert done.returncode == 1
    assert statuses(done)["failed"] == 1
    assert "run the same command to go on" in done.stderr and "Traceback" not in done.stderr
    assert "served: held out" in done.stderr
    arms = world.sql("select distinct arm from held_out")
    assert arms in ([{"arm": "recorded"}], []), "a step that failed has no score"
    assert world.sql("select count(*) as n from rollouts where failure is not null") == [{"n": 0}]


def test_when_the_server_is_back_the_same_command_finishes(tmp_path):
    world = make_world(tmp_path, SERVED % "http://127.0.0.1:9/v1")
    assert world.hbench("run", "specs/toy.yaml", check=False).returncode == 1
    with ModelServer(lambda asked: "7") as server:
        (world.folder / "specs/toy.yaml").write_text(SERVED % server.url)
        assert statuses(world.hbench("run", "specs/toy.yaml"))["ran"] == 1
        assert len(server.bodies) == 5


def test_descendants_of_a_failed_step_are_skipped(tmp_path):
    spec = SPEC.replace("file: replies/proposer.jsonl", "file: replies/none.jsonl")
    world = make_world(tmp_path, spec)
    write_replies(world.folder / "specs/replies/none.jsonl", [{"match": "a text that never comes", "reply": "x"}])
    done = world.hbench("run", "specs/toy.yaml", check=False)
    found = statuses(done)
    assert done.returncode == 1 and found["failed"] >= 1 and found["skipped"] > 10
    assert world.sql("select distinct arm from held_out where purpose = 'held_out'") in ([{"arm": "seed"}], [])


def test_a_failed_step_is_tried_again_where_asked(tmp_path):
    world = make_world(tmp_path, SERVED % "http://127.0.0.1:9/v1")
    done = world.hbench("run", "specs/toy.yaml", "--retry-failed", "2", check=False)
    assert done.stderr.count("will be tried again") == 2


def test_ctrl_c_ends_a_run_within_two_seconds_and_says_how_to_go_on(tmp_path):
    world = make_world(tmp_path, latency_ms=3000)
    process = world.start("run", "specs/toy.yaml")
    deadline = time.monotonic() + 20
    while not list((world.folder / "results").glob("steps/*/*.part")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)
    os.kill(process.pid, signal.SIGINT)
    began = time.monotonic()
    said = process.communicate(timeout=10)[0].decode()
    assert time.monotonic() - began < 2.0
    assert process.returncode == 130
    assert "run the same command to go on" in said and "Traceback" not in said
    runs = world.sql("select outcome from runs")
    assert runs == [{"outcome": "interrupted"}]


def test_two_runs_at_once_share_the_work(tmp_path):
    """Two writers (case 93): no lost rows, nothing twice."""
    world = make_world(tmp_path, latency_ms=40)
    both = [world.start("run", "specs/toy.yaml", "-q") for _ in range(2)]
    for process in both:
        out = process.communicate(timeout=120)[0].decode()
        assert process.returncode == 0, out
    twice = world.sql("select step_key, count(*) as n from steps group by all having count(*) > 1")
    assert twice == []
    assert world.sql("select count(*) as n from runs where outcome = 'finished'") == [{"n": 2}]
    world.hbench("run", "specs/toy.yaml", "-q", "--results", "alone")
    for table in ("rollouts", "events", "candidates", "selections"):
        count = f"select count(*) as n from {table}"
        assert world.sql(count) == world.sql(count, "alone")


def test_without_a_jail_code_is_run_only_when_the_spec_says_so_aloud(world):
    world.hbench("run", "specs/toy.yaml", "arms=null", "rounds=0", "machine.sandbox=none")
    made = world.sql("select distinct json_extract_string(made_with, '$.sandbox') as jail from steps where kind = 'evaluate'")
    assert made == [{"jail": "none"}]
