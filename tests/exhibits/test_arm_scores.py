"""What an arm scored on a question: through SQL, from rows of a real database."""

import pytest

from hbench.exhibits.arm_scores import read_arms
from hbench.exhibits.sources import count_newest_runs
from tests.exhibits.database import filled
from tests.exhibits.study import Point, Trial, Writer, all_at, scored

pytestmark = pytest.mark.truth
SEED = ({"d": (0.5, 0.0)}, {"p": (0.5, 0.0), "q": (0.25, 0.0)})


def read(*points, arms=(), more=None, **which):
    writer = Writer()
    writer.points(list(points))
    for table, rows in (more or {}).items():
        writer.rows.setdefault(table, []).extend(rows)
    connection = filled(writer.rows)
    count_newest_runs(connection)
    asked = {"specs": sorted({p.digest for p in points}), "arms": arms or sorted({p.arm for p in points})}
    return read_arms(connection, asked, **which)


def held(p, q):
    return Trial("applied", {"d": (1.0, 1.0)}, {"p": (p, float(p == 1)), "q": (q, float(q == 1))})


def scores(found):
    return {row.question_id: row.score for row in found[0]}


def test_an_arm_of_one_round_scores_the_mean_of_its_proposals_and_a_failed_one_keeps_the_parents():
    found = read(Point("rl", "maze", 0, *SEED, ((held(1.0, 0.75), Trial("no_block"), Trial("no_change")),), (0,)))
    assert scores(found) == {"p": pytest.approx(2.0 / 3), "q": pytest.approx(1.25 / 3)}
    assert found[1] == {"rl": "mean of 3 proposals"}
    assert next(row for row in found[0] if row.question_id == "p").draws == (1.0, 0.5, 0.5)


def test_what_was_selected_is_the_last_harness():
    point = Point("rl", "maze", 0, *SEED, ((held(0.0, 0.0), held(1.0, 1.0)),), (1,))
    assert scores(read(point, selected=True)) == {"p": 1.0, "q": 1.0}
    assert read(point, selected=True)[1] == {"rl": "the harness after 1 round"}


def test_an_arm_of_several_rounds_scores_its_last_harness():
    found = read(Point("rl", "maze", 0, *SEED, ((held(1.0, 0.0),), (held(0.0, 1.0),)), (0, 0)))
    assert (scores(found), found[1]) == ({"p": 0.0, "q": 1.0}, {"rl": "the harness after 2 rounds"})


def test_candidates_that_were_not_measured_leave_what_was_selected():
    found = read(Point("rl", "maze", 0, *SEED, ((held(1.0, 0.0),),), (0,), evaluate_all=False))
    assert (scores(found), found[1]) == ({"p": 1.0, "q": 0.0}, {"rl": "the harness after 1 round"})


def test_proposals_of_one_prompt_are_one_draw():
    trials = tuple(held(p, 0.0) for p in (0.0, 0.25, 0.5, 1.0))  # prompts 0 1 0 1
    found = read(Point("rl", "maze", 0, *SEED, (trials,), (3,), prompts=2))
    assert found[0][0].draws == (0.25, 0.625)
    assert found[0][0].score == pytest.approx(0.4375)


def test_a_grade_may_take_the_place_of_the_score():
    assert scores(read(Point("seed", "maze", 0, {}, {"p": (0.5, 1.0)}), grade="exact")) == {"p": 1.0}
    assert read(Point("seed", "maze", 0, {}, {"p": (0.5, 1.0)}), grade="nothing")[0] == ()


def test_repeats_are_averaged():
    point = Point("seed", "maze", 0, {}, {"p": (0.5, 0.0)})
    again = {"candidate": 0, "question_id": "p", "repeat": 1, "harness_id": "h", "score": 1.0}
    key = next(row["step_key"] for row in written(point)["rollouts"] if row["question_id"] == "p")
    keys = {row["step_key"] for row in written(point)["rollouts"]}
    found = read(point, more={"rollouts": [{"step_key": key, **again} for key in keys]})
    assert key and scores(found) == {"p": 0.75}


def written(point):
    writer = Writer()
    writer.points([point])
    return writer.rows


def test_a_scenario_is_right_when_all_its_tasks_are_and_unknown_where_one_was_not_asked():
    graded = {"s1_1": (1.0, 1.0), "s1_2": (1.0, 1.0), "s2_1": (1.0, 1.0), "s2_2": (0.0, 0.0), "s3_1": (1.0, 1.0)}
    about = [(q, {"scenario": q[:2], "scenario_size": 2}) for q in graded]
    meta = [{"question_id": q, "family": "appworld", "text": f"Task {q}", "meta": its} for q, its in about]
    found = read(Point("base", "appworld", 0, {}, graded), more={"questions": meta})
    assert scores(found) == {"s1": 1.0, "s2": 0.0}
    assert all(row.scenario for row in found[0]) and found[0][0].text == "Task s1_1"


def test_an_arm_with_a_failed_step_is_left_out_of_that_family():
    point = Point("rl", "maze", 0, all_at("maze", "dev", 0.5), all_at("maze", "held", 0.5), ((scored("maze", 1.0, 1.0),),), (0,))
    other = Point("rl", "lcm", 0, *SEED, spec="other".ljust(64, "0"))
    writer = Writer()
    writer.points([point, other])
    failed = next(row for row in writer.rows["run_steps"] if "/maze/" in row["step_id"])
    failed["status"] = "failed"
    connection = filled(writer.rows)
    count_newest_runs(connection)
    found, _ = read_arms(connection, {"specs": [point.digest, other.digest], "arms": ["rl"]})
    assert {row.family for row in found} == {"lcm"}
