"""A raced arm beside one that scores every candidate whole: the same choices from fewer rollouts, told alike everywhere."""

import csv
from pathlib import Path

import pytest

from hbench.view.candidate import candidate
from hbench.view.harness_tree import tree
from hbench.view.reading import Reading
from tests.view.served import served
from tests.world import SPEC, make_world

pytestmark = pytest.mark.slow
RACED = SPEC.replace("scoring: 4", "scoring: 8").partition("arms:")[0] + """
arms:
  whole: {rounds: 1, proposals: 6}
  raced: {rounds: 1, proposals: 6, race: {kind: paired}}
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = make_world(tmp_path_factory.mktemp("race"), RACED)
    made.hbench("run", "specs/toy.yaml", "-q")
    return made


def scores(world, arm):
    asked = f"select slot, outcome, failed, score, place, dropped from candidate_scores where arm = '{arm}' and split = 'scoring'"
    return {row["slot"]: row for row in world.sql(f"{asked} order by slot")}


def test_both_arms_choose_alike_and_the_race_runs_less(world):
    chosen = world.sql("select arm, rule, parent_id, chosen_id, chosen_slot, chosen_score from rounds order by arm")
    assert {**chosen[0], "arm": ""} == {**chosen[1], "arm": ""} and chosen[0]["chosen_slot"] >= 0
    [ran] = world.sql("select value ->> 'rollouts' as ran, value ->> 'full' as whole from steps where kind = 'race'")
    assert int(ran["ran"]) < int(ran["whole"])
    told = world.sql("select count(*) as rows, count(score) as scored from rollouts join steps using (step_key) where kind = 'race'")
    assert told == [{"rows": int(ran["whole"]), "scored": int(ran["ran"])}]


def test_candidates_that_were_run_on_all_questions_have_the_scores_that_they_have_without_a_race(world):
    whole, raced = scores(world, "whole"), scores(world, "raced")
    assert [row["outcome"] for row in whole.values()] == [row["outcome"] for row in raced.values()]
    assert {slot: row for slot, row in whole.items() if not raced[slot]["dropped"] and not row["failed"]} == {
        slot: row for slot, row in raced.items() if not row["dropped"] and not row["failed"]
    }
    assert any(row["dropped"] for row in raced.values())


def test_a_second_run_finds_everything(world):
    assert "to run" not in world.hbench("plan", "specs/toy.yaml").stdout.splitlines()[0]


def test_the_page_tells_each_candidate_of_a_race_by_its_own_rollouts(world):
    results = Path(world.folder / "results")
    [spec] = world.sql("select spec_digest from specs")
    [only] = tree(Reading(results), (spec["spec_digest"], "raced", "toy", 0)).rounds
    wanted = scores(world, "raced")
    assert {leaf.slot: leaf.score for leaf in only.leaves} == {
        slot: None if row["failed"] else row["score"] for slot, row in wanted.items()
    }
    assert [leaf.slot for leaf in only.leaves if leaf.chosen] == [min(s for s, row in wanted.items() if row["place"] == 1)]
    for leaf in only.leaves:
        told = [one for one in candidate(Reading(results), leaf.step_key, 0).measured if one.label.startswith("round 0, race")]
        assert [one.score for one in told] == ([] if leaf.harness_id is None else [leaf.score])
    with served(results) as page:
        [missing] = world.sql("select step_key, candidate, question_id from rollouts where failure = 'not_run' limit 1")
        for address in ("/rollouts", "/candidates", f"/rollouts/{missing['step_key']}/{missing['candidate']}/{missing['question_id']}/0"):
            assert page.get(address).status == 200, address


def test_an_exhibit_tells_candidates_of_a_race_apart(world):
    world.hbench("exhibit", "pareto", "specs/toy.yaml")
    with (world.folder / "results/exhibits/pareto.csv").open() as lines:
        told = {(line["row"], line["column"]): line["value"] for line in csv.DictReader(lines)}
    # The dropped harness has no score on all questions: it is no choice of the raced arm.
    assert {float(told[f"{arm} / 0.0", "score"]) for arm in ("whole", "raced")} == {1.0}
    assert float(told["whole / 0.0", "harnesses"]) > float(told["raced / 0.0", "harnesses"]) >= 1
