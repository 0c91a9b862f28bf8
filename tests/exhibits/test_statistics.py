import pytest

from hbench.exhibits.statistics import Estimate, Spread, mean, mean_interval, mean_spread, ratio_interval, strata_interval

pytestmark = pytest.mark.truth


def test_the_interval_of_three_families_is_students():
    # By hand: mean 0.5, deviation 0.1, t(2, 97.5 %) = 4.302653, so +- 4.302653 x 0.1 / sqrt(3) = 0.248414.
    found = mean_interval([0.4, 0.5, 0.6])
    assert (found.value, found.n) == (pytest.approx(0.5), 3)
    assert (found.low, found.high) == (pytest.approx(0.251586, abs=1e-6), pytest.approx(0.748414, abs=1e-6))


def test_the_interval_agrees_with_scipy():
    from scipy import stats

    values = [0.11, 0.52, 0.33, 0.94, 0.05]
    low, high = stats.t.interval(0.9, 4, loc=sum(values) / 5, scale=stats.sem(values))
    found = mean_interval(values, confidence=0.9)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_the_p_value_agrees_with_scipy_and_with_the_interval_that_ends_at_0():
    from scipy import stats

    values = [0.11, 0.52, -0.33, 0.94, 0.05, 0.4, 0.2]
    spread = mean_spread(values)
    assert spread.p_value() == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    assert spread.interval(1 - spread.p_value()).low == pytest.approx(0.0, abs=1e-12)


def test_the_widest_of_two_levels_counts_and_its_p_value_is_that_of_the_interval_that_ends_at_0():
    in_all, runs = (0.03, 11), (0.02, 1)
    both = Spread(0.9, 12, (in_all, runs))
    assert both.interval() == Spread(0.9, 12, (runs,)).interval() != Spread(0.9, 12, (in_all,)).interval()
    assert Spread(0.9, 12, ((0.03, 11), (0.0005, 1))).interval() == Spread(0.9, 12, (in_all,)).interval()
    assert both.interval(1 - both.p_value()).low == pytest.approx(0.0, abs=1e-9)


def test_where_nothing_can_be_said_of_the_spread_there_is_no_p_value():
    assert mean_spread([0.7]).p_value() is None
    assert mean_spread([]).p_value() is None


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
