"""Running: what is finished is not run again, trouble stops its own step, a stop is clean."""

import os
import signal
import time

import pytest

import hbench
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


@pytest.mark.slow
def test_one_more_round_runs_only_what_is_new(world):
    first = statuses(world.hbench("run", "specs/toy.yaml"))
    again = statuses(world.hbench("run", "specs/toy.yaml", "arms.sequential.rounds=4"))
    assert again["cached"] >= sum(first.values()) - 2
    assert 0 < again["ran"] <= 8


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.fault
@pytest.mark.slow
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


@pytest.mark.fault
@pytest.mark.slow
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


@pytest.mark.fault
def test_a_failed_step_is_tried_again_where_asked(tmp_path):
    world = make_world(tmp_path, SERVED % "http://127.0.0.1:9/v1")
    done = world.hbench("run", "specs/toy.yaml", "--retry-failed", "2", check=False)
    assert done.stderr.count("will be tried again") == 2


@pytest.mark.fault
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


@pytest.mark.fault
@pytest.mark.slow
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


@pytest.mark.slow
def test_what_an_unconfined_harness_scored_is_never_taken_for_a_jailed_result(world):
    """A harness that read gold from the results folder under sandbox: none had its score reused by a jailed run."""
    rounds = ("arms=null", "rounds=0")
    world.hbench("run", "specs/toy.yaml", *rounds, "machine.sandbox=none")
    assert statuses(world.hbench("run", "specs/toy.yaml", *rounds))["ran"] >= 1
    jails = world.sql("select distinct json_extract_string(made_with, '$.sandbox') as jail from steps where kind = 'evaluate'")
    assert len(jails) == 2 and {"jail": "none"} in jails


@pytest.mark.slow
def test_editing_a_part_of_ones_own_is_a_change(world):
    """A grader in the working folder was edited, and the same command answered with the old scores."""
    family = world.folder / "parts/families/own.py"
    family.parent.mkdir(parents=True)
    text = OWN
    family.write_text(text)
    spec = SERVED.split("solver:")[0].replace("kind: toy", "kind: own") + "solver: {kind: recorded, file: replies/solver.jsonl}\n"
    (world.folder / "specs/own.yaml").write_text(spec)
    world.hbench("run", "specs/own.yaml")
    family.write_text(text.replace("0.25", "0.75"))
    assert statuses(world.hbench("run", "specs/own.yaml"))["ran"] >= 1
    scores = world.sql("select distinct score from rollouts order by score")
    assert scores == [{"score": 0.25}, {"score": 0.75}]


OWN = '''
"""A family of one's own."""

from typing import Literal

from hbench.core.question import Question
from hbench.parts.part import Part


class Own(Part):
    """A family of one's own."""

    kind: Literal["own"]
    name: str = "own"

    def describe(self):
        return "Anything."

    def versions(self):
        return {}

    def questions(self, start, stop, seed):
        return [Question.of(self.name, f"What is {i}?", str(i), i, None, i) for i in range(start, stop)]

    def grade_names(self):
        return ("score",)

    def grade(self, answer, question):
        return {"score": 0.25}
'''


TWO_WAYS = """
plan: adaptation
name: two
family: {kind: toy}
splits: {feedback: 2, scoring: same_as_feedback, evaluation: 2}
harness: harnesses/plain.py
solver: {name: small, weights: m, as_of: 2026-11-01}
proposer: {name: tuned, weights: m, as_of: 2026-11-01, prompt: proposer/search_replace}
machine: {models: {small: {base_url: "http://127.0.0.1:9/v1"}, tuned: {base_url: "http://127.0.0.1:10/v1"}}}
"""


def test_one_identity_reached_in_two_ways_is_refused(tmp_path):
    """All requests of the solver went to the proposer's server: the later of two names for one identity won."""
    done = make_world(tmp_path, TWO_WAYS).hbench("run", "specs/toy.yaml", check=False)
    assert done.returncode == 2 and "small and tuned are one model" in done.stderr


def test_a_quiet_run_still_says_why_it_failed(tmp_path):
    done = make_world(tmp_path, SERVED % "http://127.0.0.1:9/v1").hbench("run", "specs/toy.yaml", "-q", check=False)
    assert "gave no reply" in done.stderr


@pytest.mark.slow
def test_a_quick_look_uses_the_first_questions_of_each_split_of_the_whole_run(world):
    """--limit moved the splits in the pool: feedback questions of the quick look were the whole run's held-out ones."""
    world.hbench("run", "specs/toy.yaml", "--limit", "2")
    world.hbench("run", "specs/toy.yaml")
    shared = world.sql(
        "with asked as (select distinct s.role, s.question_id, r.limited is not null as quick from split_questions s "
        "join run_steps t using (step_key) join runs r using (run_id)) "
        "select a.role as quick_role, b.role as whole_role, count(*) as n from asked a join asked b using (question_id) "
        "where a.quick and not b.quick group by all order by all"
    )
    assert shared and all(row["quick_role"] == row["whole_role"] for row in shared)


def test_after_a_run_from_python_ctrl_c_works_as_before(world, monkeypatch):
    """The run made the process deaf to Ctrl-C while it closed, and a notebook stayed deaf."""
    monkeypatch.chdir(world.folder)
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    assert hbench.run("specs/toy.yaml", ["arms=null", "rounds=0"]).outcome == "finished"
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
