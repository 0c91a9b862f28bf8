"""Several training runs of one recipe are a second level beside families."""

import pytest

from hbench.exhibits.statistics import Estimate, mean_interval, mean_spread
from hbench.exhibits.training_runs import runs_interval, runs_spread


def test_differences_are_taken_family_by_family():
    found = runs_interval([{"a": 0.5, "b": 0.9, "only ours": 1.0}], [{"b": 0.6, "a": 0.3, "only theirs": 0.0}])
    assert (found.value, found.n) == (pytest.approx(0.25), 2)
    alone = mean_interval([0.5 - 0.3, 0.9 - 0.6])
    assert (found.low, found.high) == (alone.low, alone.high)


def test_arms_without_a_shared_family_have_no_difference():
    assert runs_interval([{"a": 1.0}], [{"b": 0.0}]) == Estimate(None, 0)
    assert runs_interval([]) == Estimate(None, 0)


OURS = [
    {"a": 0.20, "b": 0.55, "c": 0.10, "d": 0.90, "e": 0.35, "f": 0.60, "g": 0.05},
    {"a": 0.30, "b": 0.45, "c": 0.30, "d": 0.95, "e": 0.20, "f": 0.75, "g": 0.15},
]
THEIRS = [{"a": 0.10, "b": 0.50, "c": 0.05, "d": 0.80, "e": 0.30, "f": 0.40, "g": 0.00}]


THREE = [*THEIRS, OURS[0], {k: v / 2 for k, v in OURS[1].items()}]


def by_hand(runs):
    """(mean square of runs, of runs by family), as a table of variance has them."""
    import numpy as np

    scores = np.array([list(run.values()) for run in runs])
    m, n = scores.shape
    totals = scores.mean(axis=1, keepdims=True)
    left = scores - scores.mean(axis=0) - totals + scores.mean()
    return n * ((totals - scores.mean()) ** 2).sum() / (m - 1), (left**2).sum() / ((m - 1) * (n - 1))


def test_training_runs_are_a_level_of_their_own_by_the_table_of_variance():
    """Two runs of seven families, less one of theirs. Runs by family stand in both mean squares, and count once."""
    apart, mixed = by_hand(OURS)
    found = runs_spread(OURS, THEIRS)
    means = [(OURS[0][f] + OURS[1][f]) / 2 - THEIRS[0][f] for f in OURS[0]]
    ((families, _),) = mean_spread(means).parts
    assert found.value == pytest.approx(sum(means) / 7)
    assert found.parts[1] == (pytest.approx(apart / 7 / 2), 1)
    assert found.parts[0] == (pytest.approx(families - mixed / 7 / 2 + apart / 7 / 2), 6)


def test_both_sides_tell_how_much_runs_differ():
    """Two runs against three: 1 and 2 degrees of freedom, one measure."""
    (one, _), (two, _) = by_hand(OURS), by_hand(THREE)
    assert runs_spread(OURS, THREE).parts[1] == (pytest.approx((one + 2 * two) / 3 / 7 * (1 / 2 + 1 / 3)), 3)


def test_runs_that_differ_widen_the_interval():
    ours = runs_interval(OURS)
    alone = mean_interval([(one + two) / 2 for one, two in zip(*(run.values() for run in OURS), strict=True)])
    assert ours.value == alone.value
    assert ours.high - ours.low > alone.high - alone.low
    equal, alike = runs_interval([OURS[0], OURS[0]]), mean_interval(list(OURS[0].values()))
    assert (equal.low, equal.high) == (alike.low, alike.high)


def test_several_runs_on_few_families_have_a_mean_and_no_interval():
    few = [{family: run[family] for family in "abcde"} for run in OURS]
    found = runs_interval(few)
    assert (found.n, found.low) == (5, None)
    assert found.value == pytest.approx(sum(sum(run.values()) for run in few) / 10)


def test_only_families_that_every_run_has_count():
    found = runs_interval([OURS[0], {**OURS[1], "h": 1.0}])
    assert found == runs_interval(OURS)
