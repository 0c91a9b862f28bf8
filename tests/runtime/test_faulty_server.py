"""Whatever a model server does wrong: no score comes of it, the message says what it was, and the same command goes on."""

import pytest

from tests.faulty_server import ANSWERS, FAULTS, FaultyServer
from tests.thorough import THOROUGH
from tests.world import World, make_world

pytestmark = [pytest.mark.fault, pytest.mark.long]
WELL = "well"
QUESTIONS, PATIENCE_S = 3, 45

SPEC = """
plan: evaluation
name: faulty
family: {kind: toy, ask: sum}
splits: {evaluation: %d}
harness: harnesses/plain.py
solver: {name: well, weights: well, as_of: 2026-11-01}
""" % QUESTIONS


def faulty_world(folder, url: str, paths: list[str]) -> World:
    """An arm for each path of the server at `url`, each with a model of its own there."""
    arms = "".join(f"  {path}: {{solver: {{name: {path}, weights: {path}, as_of: 2026-11-01}}}}\n" for path in paths)
    reach = f"served_name: solver, retries: 0, timeout_s: {PATIENCE_S}"
    models = "".join(f"    {path}: {{base_url: '{url}/{path}/v1', {reach}}}\n" for path in ["well", *paths])
    return make_world(folder, f"{SPEC}arms:\n  well: {{}}\n{arms}machine:\n  models:\n{models}")


def test_a_faulty_answer_is_no_score_and_once_it_is_mended_the_same_command_goes_on(tmp_path, tried):
    faults = ["wrong-name", *(fault for fault in FAULTS if THOROUGH or fault != "silence")]
    with FaultyServer() as server:
        world = faulty_world(tmp_path, server.url, faults)
        done = world.hbench("run", "specs/toy.yaml", check=False)
        assert done.returncode == 1 and "Traceback" not in done.stderr and "run the same command to go on" in done.stderr
        for fault in faults:
            tried(f"a model server that answers with: {fault}")
            (said,) = {row["error"] for row in world.sql(ERRORS % fault)}
            assert FAULTS.get(fault, (None, "serves another, not 'solver'"))[1] in said, (fault, said)
        assert world.sql("select count(*) as n from rollouts") == [{"n": QUESTIONS}], "only the arm `well` has any"
        server.mended = True
        world.hbench("run", "specs/toy.yaml")
        all_of_them = {"n": QUESTIONS * (1 + len(faults)), "failed": 0}
        assert world.sql("select count(*) as n, count(failure) as failed from rollouts") == [all_of_them]
        assert server.asked[WELL] == QUESTIONS, "what was answered is not asked again"
        scores = world.sql("select harness_id, avg(score) as score from rollouts group by all")
        assert len(scores) == 1


ERRORS = """
select error from run_steps join plan_labels using (step_id) where arm = '%s' and status = 'failed' and error is not null
"""


def test_an_odd_answer_is_an_answer_and_is_asked_for_once(tmp_path, tried):
    with FaultyServer() as server:
        world = faulty_world(tmp_path, server.url, [*ANSWERS])
        world.hbench("run", "specs/toy.yaml")
        for answer in ANSWERS:
            tried(f"a model server that answers with: {answer}")
            assert server.asked[answer] == QUESTIONS
        wanted = {row["score"] for row in world.sql("select score from rollouts where coalesce(answer, '') = ''")}
        assert wanted == {0.0}, "an empty text is the model's own, and is wrong"
        assert world.sql("select count(*) as n from rollouts") == [{"n": QUESTIONS * (1 + len(ANSWERS))}]
