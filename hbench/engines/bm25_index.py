"""The best documents for a list of terms, from a memory-mapped index: bm25s's scores, most postings never touched."""

import json
import os
from pathlib import Path

from hbench.core.corpus import Document
from hbench.engines.bm25_invert import DOCUMENTS, PEAKS, RANKS, STARTS, TERMS, VALUES
from hbench.engines.bm25_loops import Columns, Loops, Postings, Room
from hbench.engines.bm25_spool import DOCUMENT, RECORDS, TEXTS, decoded

ROUNDING = 2.4e-7  # of a sum, for each float32 addition: twice what one may lose


class Index:
    """An index folder, opened. Its pages are shared by all processes that open it. Used from one thread at a time.

    terms: term -> its number.
    """

    def __init__(self, folder: Path, loops: Loops):
        import numpy as np

        def mapped(name):
            return np.load(folder / name, mmap_mode="r").view(np.ndarray)

        self.terms: dict[str, int] = json.loads((folder / TERMS).read_bytes())
        self._starts, self._peaks, self._ranks = mapped(STARTS), mapped(PEAKS), mapped(RANKS)
        self._postings = Postings(mapped(DOCUMENTS), mapped(VALUES))
        self._text_ends = np.memmap(folder / RECORDS, DOCUMENT, "r").view(np.ndarray)["text_end"]
        self._texts = os.open(folder / TEXTS, os.O_RDONLY)
        self._sums = np.zeros(len(self._ranks), np.float32)
        self._reached = np.empty(len(self._ranks), np.int32)
        self._loops = loops

    def __len__(self) -> int:
        return len(self._ranks)

    def best(self, terms: list[int], top_k: int) -> list[tuple[int, float]]:
        """(document number, score), best first, ties by document id. Documents that hold none of the terms are no hits.

        terms: numbers in the query's order; a repeated one counts as often. The score is the float32 sum of its terms'
        values in that order, as bm25s adds them up, so it is the same whatever loops did the work.
        """
        import numpy as np

        if not terms:
            return []
        room = Room(self._sums, self._reached, np.zeros(min(top_k, len(self)), np.float32))
        keep = 1 - ROUNDING * (len(terms) + 2)
        count = self._loops.hopeful(self._columns(terms), self._postings, room, keep)
        found = np.sort(self._reached[:count])
        self._sums[found] = 0
        starts, stops = self._starts[terms], self._starts[np.add(terms, 1)]
        scores = self._loops.score(starts, stops, self._postings, found, np.zeros(count, np.float32))
        order = np.lexsort((self._ranks[found], -scores))[:top_k]
        return list(zip(found[order].tolist(), scores[order].tolist(), strict=True))

    def document(self, number: int) -> Document:
        start, end = int(self._text_ends[number - 1]) if number else 0, int(self._text_ends[number])
        return decoded(os.pread(self._texts, end - start, start))

    def close(self) -> None:
        os.close(self._texts)

    def _columns(self, query: list[int]) -> Columns:
        """Each different term's column, the one that can add most first."""
        import numpy as np

        terms, times = np.unique(query, return_counts=True)
        most = self._peaks[terms].astype(np.float64) * times
        order = np.argsort(-most, kind="stable")
        to_come = np.append(np.cumsum(most[order][::-1])[::-1], 0.0)
        terms = terms[order]
        return Columns(self._starts[terms], self._starts[terms + 1], times[order].astype(np.float32), to_come)
