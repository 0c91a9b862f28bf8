"""A study whose truth is known, run for real: no gain where there is none, a known difference as it is, and its tables."""

import math
import statistics
from random import Random

import pytest

from hbench.exhibits.compare import Options, compare
from hbench.exhibits.exhibit import regenerate
from tests.truth import coins, plain

pytestmark = [pytest.mark.truth, pytest.mark.slow]
DRAWS = 20_000
CHANCE = 0.01  # seeds are fixed: a draw as odd as this would stay, and does not come up in these
EFFECT = 0.25


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return coins.run_coins(tmp_path_factory.mktemp("coins"))


@pytest.fixture(scope="module")
def study(world):
    return plain.Study(plain.of_results(world.folder / "results"))


@pytest.fixture
def results(world, monkeypatch):
    monkeypatch.chdir(world.folder)
    return world.folder / "results"


def of(study, arm):
    """The arm's points, by family."""
    return dict(sorted((point.family, point) for point in study.points() if point.arm == arm))


def chosen(study):
    """Family -> (the proposals of the arm `guesses`, which of them was selected): scored on both splits."""
    found = {}
    for family, point in of(study, "guesses").items():
        best = max(proposal.dev for proposal in point.proposals)
        found[family] = (point.proposals, next(p for p in point.proposals if p.dev == best))
        assert found[family][1].held == point.final, "the first of the best is what was selected"
    return found


def by_chance(families, score, pick) -> float:
    """How often a draw among each family's proposals is worth as much as what `pick` takes: a permutation test, one-sided."""
    picked = math.fsum(score(pick(proposals)) for proposals in families)
    draw = Random(0)
    drawn = [math.fsum(score(draw.choice(proposals)) for proposals in families) for _ in range(DRAWS)]
    return sum(each >= picked - 1e-9 for each in drawn) / DRAWS


def by_signs(gains) -> float:
    """How often gains as large come out where each has its sign by chance: a permutation test, one-sided."""
    draw = Random(0)
    drawn = [math.fsum(gain * draw.choice((-1, 1)) for gain in gains) for _ in range(DRAWS)]
    return sum(each >= math.fsum(gains) - 1e-9 for each in drawn) / DRAWS


def dev(proposal):
    return proposal.dev


def held(proposal):
    return proposal.held


def test_a_proposer_that_knows_nothing_seems_to_gain_where_it_was_chosen_and_gains_nothing_held_out(study, tried):
    found = chosen(study)
    families = [proposals for proposals, _ in found.values()]
    took = {id(proposals): its for proposals, its in found.values()}
    assert by_chance(families, dev, lambda its: took[id(its)]) < 0.001
    tried("a gain on scoring questions is expected, and shown")
    assert by_chance(families, held, lambda its: took[id(its)]) > CHANCE
    tried("what was selected is no better on held-out questions than any other proposal")
    assert by_chance(families, held, lambda its: max(its, key=held)) < 0.001
    tried("the test would find a choice that had seen held-out questions")


def test_nor_is_it_better_than_the_harness_it_began_with(study, results, tried):
    gains = [point.final - of(study, "seed")[family].final for family, point in of(study, "guesses").items()]
    assert by_signs(gains) > CHANCE
    tried("no gain over the first harness on held-out questions")
    whole = compare(results, "toy:guesses", ":seed", Options(selected=True)).whole
    assert whole.difference.value == pytest.approx(statistics.fmean(gains)) and whole.p > CHANCE
    tried("`hbench compare` finds no gain")


def test_a_harness_that_is_better_by_a_known_share_measures_as_it_is(world, results, tried):
    asked = world.sql(
        "select distinct q.family, q.text from questions q join split_questions s using (question_id) where s.role = 'evaluation'"
    )
    apart: dict[str, list[float]] = {family: [] for family in coins.FAMILIES}
    for row in asked:
        apart[row["family"]].append(coins.truth(coins.BETTER, row["text"]) - coins.truth(coins.FAIR, row["text"]))
    assert {len(its) for its in apart.values()} == {16}
    made = compare(results, "toy:better", ":seed")
    assert {line.name: line.difference.value for line in made.families} == pytest.approx(
        {family: statistics.fmean(its) for family, its in apart.items()}
    )
    tried("the difference in every family is the one that the programs have")
    whole = made.whole.difference
    assert whole.value == pytest.approx(statistics.fmean(map(statistics.fmean, apart.values())))
    assert abs(whole.value - EFFECT) < 4 * math.sqrt(EFFECT * (1 - EFFECT) / made.questions)
    assert whole.low > 0 and made.whole.p < CHANCE
    tried("it is the difference that they were built to have, but for the draw of questions, and it is found")


def test_every_reward_is_what_its_rows_say_and_one_false_row_is_noticed(world, study, tried):
    seen, wrong = plain.false_rewards(study)
    assert wrong == [] and seen == {key for key, step in study.steps.items() if step["kind"] == "reward"}
    outcomes = {row["outcome"] for row in study.candidates.values()}
    assert {"applied", "no_change", "search_not_found", "no_edit_blocks"} <= outcomes
    assert any(0 == p.completed < p.applied for point in study.points() for p in point.proposals)
    tried("every reward of a study with all outcomes")
    tables = plain.of_results(world.folder / "results")
    scored = next(p.reward_step for p in of(study, "guesses")["coins_0"].proposals)
    step = next(row for row in tables["reward_terms"] if row["step_key"] == scored and row["term"] == "task_score")
    step["value"] += 0.125
    assert plain.false_rewards(plain.Study(tables))[1] == [scored]
    tried("one false term is found")


COLUMNS = (
    "score", "failed_as_zero", "failed_left_out", "oracle_best", "selected", "failed_share", "dev_zero_share", "proposals"
)  # fmt: skip


def test_the_exhibit_is_what_the_rows_say(study, results, tried):
    cells = {(cell.row, cell.column): cell for cell in regenerate("proposal_quality", results, ["toy"]).cells}
    for arm in ("seed", "better", "guesses", "mixed", "chain"):
        compare_cells(study, arm, cells, tried)


def compare_cells(study, arm, cells, tried):
    ours = {family: plain.worth(point, plain.PAPER) for family, point in of(study, arm).items()}
    seeds = {family: point.final for family, point in of(study, "seed").items()}
    assert len(ours) == len(coins.FAMILIES)
    for column in (*COLUMNS, "difference"):
        if column == "difference":
            values = [ours[family]["score"] - seeds[family] for family in ours if arm != "seed"]
        else:
            values = [float(its[column]) for its in ours.values() if its[column] is not None]
        cell = cells[arm, column]
        expected = plain.cell(values)
        for name, number in zip(("value", "n", "low", "high"), expected, strict=True):
            assert getattr(cell, name) == (None if number is None else pytest.approx(number)), (column, name)
        tried(f"{arm}, {column}")
