"""The two loops of a search, in numpy and in numba: they find the same, numba is several times faster.

hopeful(query, postings, room, keep) -> n: the first n of room.reached are all documents that may be among the best
len(room.best), and few others; room.sums is 0 but for them. keep: what rounding leaves of a sum, a little under 1.
score(starts, stops, postings, found, scores) -> scores: (n,) float32, to which the values of the n documents `found`
(ascending) are added, column after column.

`hopeful` adds up columns from the one that can add most to the one that can add least. As soon as all columns to come
together cannot lift a document that was not reached yet above the k-th best, only documents reached are looked up in
them, fewer and fewer (MaxScore; Turtle and Flood, 1995). Frequent terms, whose columns are long, come last.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple


class Columns(NamedTuple):
    """A query's columns, (m,) each. times: float32, how often the query has the term. to_come: (m + 1,) float64; [i] is
    the most that columns i, i + 1 … can add to a document together."""

    starts: Any
    stops: Any
    times: Any
    to_come: Any


class Postings(NamedTuple):
    """All columns one after another: documents ascending inside a column, values positive."""

    documents: Any
    values: Any


class Room(NamedTuple):
    """sums: (N,) float32, a document's sum so far, 0 where not reached. reached: (N,) int32. best: (k,) float32."""

    sums: Any
    reached: Any
    best: Any


class Loops(NamedTuple):
    hopeful: Callable[[Columns, Postings, Room, float], int]
    score: Callable[..., Any]


def fastest_loops() -> Loops:
    return numba_loops() if find_spec("numba") else numpy_loops()


def numba_loops() -> Loops:
    """Compiled at their first call, then kept on the disk; they let other threads run."""
    from numba import njit

    try:
        return Loops(njit(nogil=True, cache=True)(_hopeful), njit(nogil=True, cache=True)(_score))
    except RuntimeError:  # nowhere to keep them: every process compiles them, in a few seconds
        return Loops(njit(nogil=True)(_hopeful), njit(nogil=True)(_score))


def _hopeful(query, postings, room, keep):
    sums, reached, best = room
    count, closed, columns = 0, False, len(query.starts)
    for place in range(columns + 1):
        last = place == columns
        length = 0 if last else query.stops[place] - query.starts[place]
        # To look costs a glance at each document reached; while new ones may come, only before a long column.
        if count >= len(best) and (closed or last or length > count // 4):
            best[:] = 0  # ascending
            for i in range(count):
                value = sums[reached[i]]
                if value > best[0]:
                    at = 0
                    while at + 1 < len(best) and best[at + 1] < value:
                        best[at] = best[at + 1]
                        at += 1
                    best[at] = value
            least = keep * best[0] - query.to_come[place]
            if least > 0:
                closed, kept = True, 0
                for i in range(count):
                    document = reached[i]
                    if sums[document] >= least:
                        reached[kept] = document
                        kept += 1
                    else:
                        sums[document] = 0
                count = kept
        if last:
            break
        start, stop, times = query.starts[place], query.stops[place], query.times[place]
        if closed and count * 64 < length:
            for i in range(count):
                low, high = start, stop
                while low < high:
                    middle = (low + high) // 2
                    below = postings.documents[middle] < reached[i]
                    low, high = (middle + 1, high) if below else (low, middle)
                if low < stop and postings.documents[low] == reached[i]:
                    sums[reached[i]] += postings.values[low] * times
        else:
            for i in range(start, stop):
                document = postings.documents[i]
                if sums[document] == 0:
                    if closed:
                        continue
                    reached[count] = document
                    count += 1
                sums[document] += postings.values[i] * times
    return count


def _score(starts, stops, postings, found, scores):
    for place in range(len(starts)):
        low, stop = starts[place], stops[place]
        for i in range(len(found)):
            high = stop
            while low < high:
                middle = (low + high) // 2
                below = postings.documents[middle] < found[i]
                low, high = (middle + 1, high) if below else (low, middle)
            if low < stop and postings.documents[low] == found[i]:
                scores[i] += postings.values[low]
    return scores


def numpy_loops() -> Loops:
    return Loops(_hopeful_in_numpy, _score_in_numpy)


def _hopeful_in_numpy(query, postings, room, keep):
    import numpy as np

    sums, top_k = room.sums, len(room.best)
    found, closed = np.empty(0, np.int32), False
    for place in range(len(query.starts) + 1):
        last = place == len(query.starts)
        column = slice(0, 0) if last else slice(query.starts[place], query.stops[place])
        if len(found) >= top_k and (closed or last or column.stop - column.start > len(found) // 4):
            partial = sums[found]
            least = keep * np.partition(partial, len(found) - top_k)[len(found) - top_k] - query.to_come[place]
            if least > 0:
                sums[found[partial < least]] = 0
                closed, found = True, found[partial >= least]
        if last:
            break
        documents, values = postings.documents[column], postings.values[column] * query.times[place]
        if closed:
            sums[found] += _looked_up(documents, values, found)
        else:
            found = np.concatenate((found, documents[sums[documents] == 0]))
            sums[documents] += values  # a document stands once in a column
    room.reached[: len(found)] = found
    return len(found)


def _score_in_numpy(starts, stops, postings, found, scores):
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        scores += _looked_up(postings.documents[start:stop], postings.values[start:stop], found)
    return scores


def _looked_up(documents, values, found):
    """A column's value in each of the documents `found`, 0 where it has none."""
    import numpy as np

    places = np.minimum(documents.searchsorted(found), len(documents) - 1)
    return np.where(documents[places] == found, values[places], np.float32(0))
