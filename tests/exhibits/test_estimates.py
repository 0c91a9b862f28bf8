"""What stands in a cell: which of a row's units are repeats, and which are a level of their own."""

import pytest

from hbench.exhibits.block import ExhibitBlock
from hbench.exhibits.estimates import estimate
from hbench.exhibits.statistics import Estimate, mean_interval, ratio_interval
from hbench.exhibits.training_runs import runs_interval

pytestmark = pytest.mark.truth
COLUMNS = {"score": {}, "difference": {"statistic": "difference", "of": "score"}, "share": {"of": "score", "per": "asked"}}
RUNS = [{f"f{i}": 0.1 * i + 0.2 * seed + 0.05 * (i * seed % 3) for i in range(7)} for seed in (0, 1)]


def block(**more):
    return ExhibitBlock.model_validate({"title": "T", "from": ["quickstart"], "columns": COLUMNS, "baseline": "base", **more})


def rows(arm, runs, spec="s{seed}"):
    """One row a family and seed. spec: digest of the spec that measured it."""
    return [
        {"spec_digest": spec.format(seed=seed, family=family), "arm": arm, "family": family, "seed": seed, "score": score}
        for seed, run in enumerate(runs)
        for family, score in run.items()
    ]


def close(found, expected):
    assert (found.value, found.n) == (pytest.approx(expected.value), expected.n)
    assert (found.low, found.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_seeds_of_a_trained_spec_are_a_level_beside_its_families():
    close(estimate(block(), "score", rows("rl", RUNS), []), runs_interval(RUNS))


def test_seeds_that_begin_anew_in_each_family_are_averaged_there():
    apart = rows("rl", RUNS, spec="s{seed} {family}")
    close(estimate(block(), "score", apart, []), mean_interval([(RUNS[0][f] + RUNS[1][f]) / 2 for f in RUNS[0]]))


def test_a_difference_of_two_arms_in_each_seed_is_a_run_of_differences():
    base = [{family: score / 2 for family, score in run.items()} for run in RUNS]
    apart = [{family: run[family] - low[family] for family in run} for run, low in zip(RUNS, base, strict=True)]
    close(estimate(block(), "difference", rows("rl", RUNS), rows("base", base)), runs_interval(apart))


def test_arms_that_are_pooled_are_runs_on_either_side():
    ours = [*rows("rl_0", RUNS[:1]), *rows("rl_1", RUNS[1:])]
    theirs = [{family: 0.25 for family in RUNS[0]}]
    close(estimate(block(), "difference", ours, rows("base", theirs)), runs_interval(RUNS, theirs))


def scenarios(arm, *scores):
    at = {"spec_digest": "s", "arm": arm, "family": "appworld", "seed": 0}
    return [{**at, "scenario": f"s{i}", "score": score, "asked": 3} for i, score in enumerate(scores)]


def test_a_scenario_is_a_unit_like_a_question():
    made = block(unit="scenario", columns=COLUMNS | {"scenarios": {"statistic": "scenarios", "of": "score"}})
    ours, theirs = scenarios("rl", 1.0, 0.0, 1.0), scenarios("base", 0.0, 0.0, 1.0)
    close(estimate(made, "score", ours, []), mean_interval([1.0, 0.0, 1.0]))
    close(estimate(made, "difference", ours, theirs), mean_interval([1.0, 0.0, 0.0]))
    close(estimate(made, "share", ours, []), ratio_interval([(1.0, 3), (0.0, 3), (1.0, 3)]))
    assert estimate(made, "scenarios", ours, []) == Estimate(3.0, 3)
    with pytest.raises(ValueError, match="questions cannot be counted where the unit is the scenario"):
        block(unit="scenario", columns={"questions": {"statistic": "questions", "of": "score"}})
