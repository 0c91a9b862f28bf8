"""kill -9 at 480 of 500 rollouts: the next run does the 20 left and those in flight, and nothing else."""

import json
import time

import pytest

from tests.runtime.killing import kill_tree
from tests.world import World, write_replies

pytestmark = [pytest.mark.fault, pytest.mark.slow]
ALL, AT = 500, 480
SPEC = f"""
plan: distillation
domain: {{kind: toy}}
splits: {{training: 1, evaluation: {ALL}}}
student: {{kind: recorded, file: replies/student.jsonl}}
machine: {{in_flight: 6}}
"""


@pytest.fixture
def world(tmp_path):
    (tmp_path / "specs/replies").mkdir(parents=True)
    (tmp_path / "specs/toy.yaml").write_text(SPEC)
    copies = {"match": "Write it to", "reply": "```bash\ncp in.txt out.txt\n```"}
    write_replies(tmp_path / "specs/replies/student.jsonl", [copies, {"reply": "Done."}])
    return World(tmp_path)


def finished(world):
    """(question id, seconds) of each rollout that is durable; seconds tell one run of it from another."""
    lines = [line for file in world.folder.glob("results/steps/*/*.part/rows.jsonl") for line in file.open()]
    rows = [row for line in lines if line.endswith("\n") for row in json.loads(line).get("rollouts", ())]
    return {row["question_id"]: row["seconds"] for row in rows}


def appended(world):
    """How many rollouts have ended: each is one line."""
    return sum(file.read_bytes().count(b"\n") for file in world.folder.glob("results/steps/*/*.part/rows.jsonl"))


def test_a_run_killed_near_its_end_goes_on_with_what_is_missing(world):
    process = world.start("run", "specs/toy.yaml", "-q")
    deadline = time.monotonic() + 1200  # a busy machine is no fault of the run
    while appended(world) < AT and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    assert process.poll() is None, "it ended before it was killed"
    kill_tree(process)
    before = finished(world)
    assert AT <= len(before) < ALL
    world.hbench("run", "specs/toy.yaml", "-q", timeout=300)
    rows = world.sql("select question_id, seconds, score from rollouts")
    assert len(rows) == ALL and {row["score"] for row in rows} == {1.0}
    again = [row for row in rows if before.get(row["question_id"]) == row["seconds"]]
    assert len(again) == len(before), "what had ended was run again"
    turns = world.sql("select count(*) as n, count(distinct question_id) as q from turns")
    assert turns == [{"n": 2 * ALL, "q": ALL}]
