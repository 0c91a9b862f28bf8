"""p values of paired differences, one a cluster."""

from collections.abc import Sequence

from hbench.exhibits.statistics import LEAST, Spread

ALIKE = 1e-12  # differences this small are rounding


def p_value(differences: Sequence[float], spread: Spread) -> float | None:
    """Two-sided, that two sides do alike. differences: one a cluster. spread: of their mean.

    Student's t from LEAST clusters on that differ at all. Below that signs are flipped, which takes nothing for granted
    but that a cluster could as well have come out the other way round: four of them allow no p below .125.
    """
    telling = [each for each in differences if abs(each) > ALIKE]
    by_t = spread.p_value() if len(telling) >= LEAST else None
    return sign_flip_p(telling) if by_t is None else by_t


def sign_flip_p(differences: Sequence[float]) -> float:
    """The share of all ways to flip signs in which the sum is as far from 0; of many differences, of 9,999 seeded draws.

    1.0 of none and of one: its two signs are as far from 0.
    """
    if len(differences) < 2:
        return 1.0
    import numpy as np
    from scipy import stats

    def total(values: Sequence[float], axis: int) -> float:
        return np.sum(values, axis=axis)

    drawn = {"permutation_type": "samples", "vectorized": True, "n_resamples": 9999, "rng": np.random.default_rng(0)}
    return float(stats.permutation_test((np.array(differences),), total, **drawn).pvalue)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """p values corrected for how many there are (Holm, 1979), in the same order. None stays None and does not count."""
    known = sorted((p, at) for at, p in enumerate(values) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    highest = 0.0
    for rank, (p, at) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        corrected[at] = highest
    return corrected
