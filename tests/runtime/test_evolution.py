"""h is evolved into h* by an outside agent and h* translated into guidance, in one plan, with real workspaces and jails."""

import json
import sys

import pytest

from tests.world import World, write_replies

SPEC = """
plan: distillation
name: toy
domain: {kind: toy, name: toy, ask: copy}
splits: {training: 3, evaluation: 2}
target: {turns: 4, command_s: 10}
student: {kind: recorded, file: replies/student.jsonl}
let:
  bank: {kind: evolved, evolver: {kind: command, command: [PYTHON, agent.py, "{workspace}"], wall_s: 60}, rounds: 2}
arms:
  base: {}
  h_star: {bank: "${let.bank}"}
  reviewed:
    review:
      reviewer: {kind: recorded, file: replies/reviewer.jsonl}
      guidance: {kind: written, bank: "${let.bank}", writer: {kind: recorded, file: replies/writer.jsonl}}
      budget: 1
"""
TOOL = '"""Copy the number."""\nimport shutil\n\nPARAMETERS = {}\nshutil.copy("in.txt", "out.txt")\nprint("copied")\n'
AGENT = f"""
import json, pathlib, sys
work = pathlib.Path(sys.argv[1])
traces = [file.stem for file in (work / "traces").iterdir()]
assert all("I cannot." in (work / "traces" / (trace + ".md")).read_text() for trace in traces)
tools = work / "bank/tools"
tools.mkdir()
(tools / "copy_number.py").write_text({TOOL!r})
(tools / "useless.py").write_text({TOOL!r})
cites = {{"tools/copy_number.py": {{"cites": traces, "why": "nobody copied"}}, "tools/useless.py": traces[:1]}}
(work / "cites.json").write_text(json.dumps(cites))
"""
REPLACED = {"decision": "replace", "command": "cp in.txt out.txt", "components": ["recipes/copy_number.md"]}


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    """After the run. The student gives up, unless it is told of a tool that copies."""
    folder = tmp_path_factory.mktemp("evolution")
    (folder / "specs/replies").mkdir(parents=True)
    (folder / "specs/toy.yaml").write_text(SPEC.replace("PYTHON", sys.executable).replace("agent.py", str(folder / "agent.py")))
    (folder / "agent.py").write_text(AGENT)
    calls = {"family": "copy_number", "match": "holds a number", "reply": "```copy_number\n{}\n```"}
    write_replies(folder / "specs/replies/student.jsonl", [calls, {"match": "copied", "reply": "Done."}, {"reply": "I cannot."}])
    write_replies(folder / "specs/replies/writer.jsonl", [{"reply": "Run `cp SOURCE TARGET`."}])
    write_replies(folder / "specs/replies/reviewer.jsonl", [{"reply": json.dumps(REPLACED)}])
    made = World(folder)
    made.hbench("run", "specs/toy.yaml")
    return made


def test_the_bank_solves_what_the_base_cannot_and_guidance_solves_it_without_the_bank(world):
    scores = world.sql(
        "select arm, avg(score) as score from plan_labels join run_steps using (step_id) join rollouts using (step_key) "
        "where purpose = 'held_out' group by arm order by arm"
    )
    assert {row["arm"]: row["score"] for row in scores} == {"base": 0.0, "h_star": 1.0, "reviewed": 1.0}


def test_the_second_round_tries_what_was_failed_and_counts_what_helped(world):
    rows = world.sql(
        "select round, path, action, idle_rounds, len(cites::varchar[]) as cited from bank_components "
        "join run_steps using (step_key) join plan_labels using (step_id) where arm = 'h_star' order by round, path"
    )
    assert [(r["round"], r["path"], r["action"], r["idle_rounds"], r["cited"]) for r in rows] == [
        (0, "tools/copy_number.py", "added", 0, 3),
        (0, "tools/useless.py", "added", 0, 1),
        (1, "tools/copy_number.py", "kept", 0, 0),
        (1, "tools/useless.py", "kept", 1, 0),
    ]


def test_guidance_is_a_recipe_for_every_tool_and_no_student_reads_it(world):
    files = world.sql("select distinct path, text from harnesses where path like 'recipes/%' order by path")
    assert [row["path"] for row in files] == ["recipes/copy_number.md", "recipes/useless.md"]
    read = world.sql("select role, count(*) as n from event_texts where sent like '%cp SOURCE TARGET%' group by role")
    assert [row["role"] for row in read] == ["reviewer"]


def test_run_again_nothing_is_done_twice(world):
    world.hbench("run", "specs/toy.yaml")
    again = world.sql(
        "select distinct status from run_steps where run_id = (select max_by(run_id, started_at) from runs) order by status"
    )
    assert again == [{"status": "cached"}]
