"""The three loops of a search, in numpy and in numba. They give the same documents; numba is several times faster.

sums: (N,) float32, a partial score per document, 0 where not reached. reached: (N,) int32, its first `count` entries
are the documents reached so far. A column has `documents` (int32, ascending) and their `values` (float32, positive).
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec


@dataclass(frozen=True, slots=True)
class Loops:
    """add(documents, values, times, sums, reached, count) -> the new count: adds `times` the values of a column.

    least_of_best(sums, reached, count, best) -> the k-th highest sum of those reached; best: k zeros, count >= k.
    take(sums, reached, count, least, partial) -> n: the n documents with sums of at least `least` now stand first in
    `reached`, their sums in `partial`; all sums are 0 again.
    """

    add: Callable
    least_of_best: Callable
    take: Callable


def numpy_loops() -> Loops:
    import numpy as np

    def add(documents, values, times, sums, reached, count):
        new = documents[sums[documents] == 0]
        sums[documents] += values * times  # a document stands once in a column
        reached[count : count + len(new)] = new
        return count + len(new)

    def least_of_best(sums, reached, count, best):
        place = count - len(best)
        return np.partition(sums[reached[:count]], place)[place]

    def take(sums, reached, count, least, partial):
        found = reached[:count].copy()
        values = sums[found]
        sums[found] = 0
        kept = values >= least
        n = int(kept.sum())
        reached[:n], partial[:n] = found[kept], values[kept]
        return n

    return Loops(add, least_of_best, take)


def numba_loops() -> Loops:
    """Compiled at their first call, then kept on the disk; they let other threads run."""
    from numba import njit

    try:
        compiled = [njit(nogil=True, cache=True)(loop) for loop in (_add, _least_of_best, _take)]
    except RuntimeError:  # nowhere to keep them: compiled again by every process, in about two seconds
        compiled = [njit(nogil=True)(loop) for loop in (_add, _least_of_best, _take)]
    return Loops(*compiled)


def fastest_loops() -> Loops:
    return numba_loops() if find_spec("numba") else numpy_loops()


def _add(documents, values, times, sums, reached, count):
    for place in range(len(documents)):
        document = documents[place]
        if sums[document] == 0:
            reached[count] = document
            count += 1
        sums[document] += values[place] * times
    return count


def _least_of_best(sums, reached, count, best):
    for place in range(count):
        value = sums[reached[place]]
        if value > best[0]:  # ascending
            at = 0
            while at + 1 < len(best) and best[at + 1] < value:
                best[at] = best[at + 1]
                at += 1
            best[at] = value
    return best[0]


def _take(sums, reached, count, least, partial):
    n = 0
    for place in range(count):
        document = reached[place]
        value = sums[document]
        sums[document] = 0
        if value >= least:
            reached[n], partial[n] = document, value
            n += 1
    return n
