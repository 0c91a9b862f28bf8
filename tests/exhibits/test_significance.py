"""p values of paired differences: Student's t, or the signs flipped where there are few."""

import pytest

from hbench.exhibits.significance import holm, p_value, sign_flip_p
from hbench.exhibits.statistics import mean_spread

pytestmark = pytest.mark.truth


def p_of(*differences):
    return p_value(differences, mean_spread(differences))


def test_four_clusters_allow_no_p_below_an_eighth():
    assert p_of(0.3, 0.31, 0.29, 0.3) == 2 / 16
    assert p_of(0.3, 0.2, 0.4, -0.1) == 4 / 16, "with the smallest turned round, and both turned over"


def test_six_clusters_are_taken_by_students_t():
    from scipy import stats

    values = [0.3, 0.1, 0.4, -0.1, 0.2, 0.5]
    assert p_of(*values) == pytest.approx(stats.ttest_1samp(values, 0).pvalue)


def test_clusters_that_do_not_differ_do_not_make_few_many():
    """Four of 75 questions flipped, all one way: t would say .045 of what tosses of a coin do one time in eight."""
    assert p_of(*[1.0] * 4, *[0.0] * 71) == 2 / 16


def test_clusters_that_all_differ_alike_have_no_spread_and_still_a_p_value():
    assert p_of(*[0.5] * 7) == 2 / 128
    assert p_of(*[0.5] * 40) == pytest.approx(1e-4, abs=2e-4), "of 9,999 draws"
    assert p_of(*[0.5] * 40) == p_of(*[0.5] * 40), "which are seeded"


def test_equal_sides_and_a_single_cluster_say_nothing():
    assert p_of(0.0, 0.0, 0.0) == p_of(0.7) == p_of() == 1.0


def test_signs_agree_with_counting_them_by_hand():
    from itertools import product

    values = [0.31, -0.12, 0.43, 0.2, -0.05]
    sums = [abs(sum(s * v for s, v in zip(signs, values, strict=True))) for signs in product((1, -1), repeat=5)]
    assert sign_flip_p(values) == pytest.approx(sum(s >= abs(sum(values)) - 1e-12 for s in sums) / 32)


def test_holm_multiplies_the_smallest_most_and_never_turns_the_order():
    assert holm([0.01, 0.04, 0.03, None]) == [pytest.approx(0.03), pytest.approx(0.06), pytest.approx(0.06), None]
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []
