"""A spooled corpus to an index that bm25s could have made: the same numbers, in memory of a fixed size."""

import json
import math
from collections.abc import Callable
from pathlib import Path

from hbench.core.failure import HbenchError
from hbench.engines.bm25_spool import DOCUMENT, IDS, POSTING, POSTINGS, RECORDS, VOCABULARY

# bm25s's own names for its arrays, so that `bm25s.BM25.load(folder, mmap=True)` opens an index too.
VALUES, DOCUMENTS, STARTS = "data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy"
TERMS, PARAMETERS = "vocab.index.json", "params.index.json"
PEAKS, RANKS = "peaks.npy", "ranks.npy"  # ours: the highest value of each term; each document's place by id
K1, B = 1.5, 0.75  # bm25s's defaults; method lucene
AT_ONCE = 2_000_000  # postings in memory at a time
WIDEST_KEY = 64  # bytes of an id that are sorted as one array


def invert(folder: Path, advance: Callable[[int, int], None]) -> None:
    """Writes the arrays and the vocabulary of the corpus spooled in `folder`. advance(done, all): postings so far.

    Raises HbenchError when two documents have one id.
    """
    import numpy as np

    records = np.fromfile(folder / RECORDS, DOCUMENT)
    np.save(folder / RANKS, _ranks(folder / IDS, records["id_end"]))
    terms = (folder / VOCABULARY).read_bytes().decode().split("\n")[:-1]
    size = (folder / POSTINGS).stat().st_size // np.dtype(POSTING).itemsize
    postings = np.memmap(folder / POSTINGS, POSTING, "r") if size else np.empty(0, POSTING)
    frequencies = np.zeros(len(terms), np.int64)
    for start in range(0, size, AT_ONCE):
        frequencies += np.bincount(postings["term"][start : start + AT_ONCE], minlength=len(terms))
    starts = np.concatenate(([0], np.cumsum(frequencies)))
    np.save(folder / STARTS, starts)
    _write_columns(folder, _Spooled(records, postings, frequencies, starts), advance)
    (folder / TERMS).write_text(json.dumps({t: n for n, t in enumerate(terms)}, ensure_ascii=False), encoding="utf-8")
    parameters = {"k1": K1, "b": B, "delta": 0.5, "method": "lucene", "idf_method": "lucene", "dtype": "float32"}
    parameters |= {"int_dtype": "int32", "num_docs": len(records), "backend": "numpy"}
    (folder / PARAMETERS).write_text(json.dumps(parameters))


class _Spooled:
    """What the second pass reads. starts: where each term's column begins."""

    def __init__(self, records, postings, frequencies, starts):
        self.records, self.postings, self.frequencies, self.starts = records, postings, frequencies, starts


def _write_columns(folder: Path, spooled: _Spooled, advance: Callable[[int, int], None]) -> None:
    """Scatters values and document numbers into their terms' columns, ascending by document.

    The arithmetic is bm25s's (double precision, then float32, idf in float32), so the values are equal to the last bit.
    """
    import numpy as np
    from numpy.lib.format import open_memmap

    count, size = len(spooled.records), len(spooled.postings)
    values = open_memmap(folder / VALUES, "w+", "<f4", (size,))
    documents = open_memmap(folder / DOCUMENTS, "w+", "<i4", (size,))
    idf = np.array([math.log(1 + (count - f + 0.5) / (f + 0.5)) for f in spooled.frequencies.tolist()], np.float32)
    mean = spooled.records["length"].mean()
    ends = np.cumsum(spooled.records["terms"], dtype=np.int64)
    heads = spooled.starts[:-1].copy()  # where the next posting of each term goes
    for start in range(0, size, AT_ONCE):
        some = spooled.postings[start : start + AT_ONCE]
        of = np.searchsorted(ends, np.arange(start, start + len(some)), "right")  # the document of each posting
        order = np.argsort(some["term"], kind="stable")
        terms, of, counts = some["term"][order], of[order], some["count"][order].astype(np.float64)
        tf = counts / (K1 * ((1 - B) + B * spooled.records["length"][of] / mean) + counts)
        firsts = np.flatnonzero(np.diff(terms, prepend=-1))  # where each term begins in this piece
        runs = np.diff(np.append(firsts, len(terms)))
        places = np.repeat(heads[terms[firsts]] - firsts, runs) + np.arange(len(terms))
        values[places], documents[places] = idf[terms] * tf, of
        heads[terms[firsts]] += runs
        advance(start + len(some), size)
    peaks = np.maximum.reduceat(values, spooled.starts[:-1]) if size else np.empty(0, np.float32)
    np.save(folder / PEAKS, peaks)
    values.flush()
    documents.flush()


def _ranks(ids: Path, ends):
    """Each document's place when sorted by id (by code point, as Python sorts text)."""
    import numpy as np

    starts = np.concatenate(([0], ends[:-1]))
    content = np.memmap(ids, "u1", "r") if len(ends) and ends[-1] else np.empty(0, "u1")
    width = max(1, min(int((ends - starts).max(initial=1)), WIDEST_KEY))
    keys = np.zeros((len(ends), width), "u1")
    for place in range(width):  # UTF-8 sorts as code points do
        longer = starts + place < ends
        keys[longer, place] = content[starts[longer] + place]
    keys = keys.reshape(-1).view(f"S{width}")
    order = np.argsort(keys, kind="stable")
    equal = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])  # ids that begin alike, or end in NUL, or are equal
    for first, last in _runs(equal):
        run = [(content[starts[n] : ends[n]].tobytes(), n) for n in order[first : last + 2].tolist()]
        run.sort()
        twice = next((a for (a, _), (b, _) in zip(run, run[1:], strict=False) if a == b), None)
        if twice is not None:
            raise HbenchError(f"two documents of the corpus have the id {twice.decode('utf-8', 'replace')!r}")
        order[first : last + 2] = [number for _, number in run]
    ranks = np.empty(len(ends), np.int32)
    ranks[order] = np.arange(len(ends), dtype=np.int32)
    return ranks


def _runs(places) -> list[tuple[int, int]]:
    """First and last of each stretch of consecutive numbers."""
    import numpy as np

    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) > 1)
    firsts = places[np.concatenate(([0], breaks + 1))]
    lasts = places[np.concatenate((breaks, [len(places) - 1]))]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
