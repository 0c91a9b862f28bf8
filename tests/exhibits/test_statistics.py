import pytest

from hbench.exhibits.statistics import Estimate, mean, mean_interval, paired_difference


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
    found = paired_difference({"a": 0.5, "b": 0.9, "only ours": 1.0}, {"b": 0.6, "a": 0.3, "only theirs": 0.0})
    assert (found.value, found.n) == (pytest.approx(0.25), 2)
    alone = mean_interval([0.5 - 0.3, 0.9 - 0.6])
    assert (found.low, found.high) == (alone.low, alone.high)


def test_arms_without_a_shared_family_have_no_difference():
    assert paired_difference({"a": 1.0}, {"b": 0.0}) == Estimate(None, 0)
