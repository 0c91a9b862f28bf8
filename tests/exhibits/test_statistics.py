import pytest

from hbench.exhibits.statistics import Estimate, mean, mean_interval, ratio_interval, runs_interval, strata_interval


def test_the_interval_of_three_families_is_students():
    # By hand: mean 0.5, deviation 0.1, t(2, 97.5 %) = 4.302653, so +- 4.302653 x 0.1 / sqrt(3) = 0.248414.
    found = mean_interval([0.4, 0.5, 0.6])
    assert (found.value, found.n) == (pytest.approx(0.5), 3)
    assert (found.low, found.high) == (pytest.approx(0.251586, abs=1e-6), pytest.approx(0.748414, abs=1e-6))


def test_from_thirty_families_on_the_quantile_is_the_normal_one():
    values = [0.0, 1.0] * 15
    deviation = (30 * 0.25 / 29) ** 0.5
    assert mean_interval(values).high == pytest.approx(0.5 + 1.959964 * deviation / 30**0.5, abs=1e-6)
    assert mean_interval(values[:28]).high > mean_interval([*values, 0.5]).high


def test_the_interval_agrees_with_scipy():
    from scipy import stats

    values = [0.11, 0.52, 0.33, 0.94, 0.05]
    low, high = stats.t.interval(0.9, 4, loc=sum(values) / 5, scale=stats.sem(values))
    found = mean_interval(values, confidence=0.9)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_one_family_has_no_interval():
    assert mean_interval([0.7]) == Estimate(0.7, 1)


def test_equal_families_have_no_interval():
    assert mean_interval([0.0, 0.0, 0.0]) == Estimate(0.0, 3)


def test_nothing_measured_has_no_mean():
    assert mean([]) is None
    assert mean_interval([]) == Estimate(None, 0)


def test_a_mean_does_not_depend_on_the_order_of_its_rows():
    values = [0.1, 1e16, 0.3, -1e16, 0.2]
    assert mean(values) == mean(values[::-1]) == mean(sorted(values))


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


@pytest.mark.parametrize("theirs", [[], THEIRS, [*THEIRS, OURS[0], {k: v / 2 for k, v in OURS[1].items()}]])
def test_the_interval_of_several_runs_is_what_drawing_families_and_runs_anew_gives(theirs):
    """Two levels, one fewer of each than there are: 200,000 draws against the variance that is written down."""
    import numpy as np
    from scipy import stats

    draw, n, times = np.random.default_rng(1), len(OURS[0]), 200_000
    families = draw.integers(n, size=(times, n - 1))
    means = np.zeros(times)
    for side, sign in ((OURS, 1), (theirs, -1)):
        if side:
            runs = draw.integers(len(side), size=(times, max(len(side) - 1, 1)))
            scores = np.array([list(run.values()) for run in side])
            means += sign * scores[runs[:, :, None], families[:, None, :]].mean(axis=(1, 2))
    found = runs_interval(OURS, theirs)
    half = stats.t.ppf(0.975, n - 1) * means.std()
    assert found.value == pytest.approx(means.mean(), abs=0.002)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.01)


def test_runs_that_differ_widen_the_interval():
    ours = runs_interval(OURS)
    alone = mean_interval([(one + two) / 2 for one, two in zip(*(run.values() for run in OURS), strict=True)])
    assert ours.value == alone.value
    assert ours.high - ours.low > alone.high - alone.low
    equal = runs_interval([OURS[0], OURS[0]])
    assert (equal.low, equal.high) == pytest.approx((mean_interval(OURS[0].values()).low, mean_interval(OURS[0].values()).high))


def test_several_runs_on_few_families_have_a_mean_and_no_interval():
    few = [{family: run[family] for family in "abcde"} for run in OURS]
    found = runs_interval(few)
    assert (found.n, found.low) == (5, None)
    assert found.value == pytest.approx(sum(sum(run.values()) for run in few) / 10)


def test_only_families_that_every_run_has_count():
    found = runs_interval([OURS[0], {**OURS[1], "h": 1.0}])
    assert found == runs_interval(OURS)


def test_one_stratum_is_a_plain_mean():
    values = {"a": 0.1, "b": 0.4, "c": 0.9}
    found, plain = strata_interval({"only": values}), mean_interval(list(values.values()))
    assert [found.value, found.low, found.high] == pytest.approx([plain.value, plain.low, plain.high])


def test_strata_weigh_the_same_and_their_variances_add_up():
    strata = {"one": {"a": 0.0, "b": 1.0}, "two": {"c": 0.0, "d": 0.0, "e": 1.0}}
    found = strata_interval(strata)
    assert (found.value, found.n) == (pytest.approx((1 / 2 + 1 / 3) / 2), 5)
    # Variances of the means: 0.5 / 2 and (1 / 3) / 3; t(1, 97.5 %) = 12.7062 of the smallest.
    assert found.high - found.value == pytest.approx(12.7062 * ((1 / 4 + 1 / 9) / 4) ** 0.5, abs=1e-4)


def test_a_unit_in_several_strata_moves_them_together():
    alike = {"a": 0.0, "b": 1.0, "c": 1.0}
    one, twice = strata_interval({"one": alike}), strata_interval({"one": alike, "two": alike})
    assert [twice.value, twice.low, twice.high] == pytest.approx([one.value, one.low, one.high])
    apart = strata_interval({"one": alike, "two": {f"other {u}": value for u, value in alike.items()}})
    assert apart.high - apart.low == pytest.approx((one.high - one.low) / 2**0.5)


def test_a_stratum_of_one_unit_gives_no_interval():
    assert strata_interval({"one": {"a": 0.0, "b": 1.0}, "two": {"c": 1.0}}) == Estimate(0.75, 3)
    assert strata_interval({}) == Estimate(None, 0)


def test_a_ratio_over_equal_amounts_is_a_mean():
    values = [0.1, 0.4, 0.9]
    found, plain = ratio_interval([(value, 2.0) for value in values]), mean_interval([value / 2 for value in values])
    assert [found.value, found.low, found.high] == pytest.approx([plain.value, plain.low, plain.high])


def test_a_ratio_is_of_sums_and_not_a_mean_of_ratios():
    assert ratio_interval([(1.0, 1.0), (0.0, 9.0)]).value == 0.1
    assert ratio_interval([(1.0, 2.0), (2.0, 4.0)]) == Estimate(0.5, 2), "all alike"
    assert ratio_interval([(0.0, 0.0)]) == Estimate(None, 1)
