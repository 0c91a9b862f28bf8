"""The best documents for a list of terms, from a memory-mapped index: bm25s's scores, most postings never touched."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from hbench.core.corpus import Document
from hbench.engines.bm25_invert import DOCUMENTS, PEAKS, RANKS, STARTS, TERMS, VALUES
from hbench.engines.bm25_loops import Loops
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
        self._values, self._documents, self._starts = mapped(VALUES), mapped(DOCUMENTS), mapped(STARTS)
        self._peaks, self._ranks = mapped(PEAKS), mapped(RANKS)
        self._text_ends = np.memmap(folder / RECORDS, DOCUMENT, "r").view(np.ndarray)["text_end"]
        self._texts = os.open(folder / TEXTS, os.O_RDONLY)
        self._sums = np.zeros(len(self._ranks), np.float32)
        self._reached = np.empty(len(self._ranks), np.int32)
        self._partial = np.empty(len(self._ranks), np.float32)
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
        found = self._hopeful(terms, top_k)
        scores = np.zeros(len(found), np.float32)
        for term in terms:
            scores += self._looked_up(term, found)
        order = np.lexsort((self._ranks[found], -scores))[:top_k]
        return list(zip(found[order].tolist(), scores[order].tolist(), strict=True))

    def document(self, number: int) -> Document:
        start, end = int(self._text_ends[number - 1]) if number else 0, int(self._text_ends[number])
        return decoded(os.pread(self._texts, end - start, start))

    def close(self) -> None:
        os.close(self._texts)

    def _hopeful(self, query: list[int], top_k: int):
        """Numbers, ascending, of all documents that may be among the best: few more than top_k.

        Terms go from the one that can add most to the one that can add least. As soon as all terms to come together
        cannot lift a document not reached yet above the k-th best, their postings are looked at only for documents
        reached before (MaxScore; Turtle and Flood, 1995). Frequent terms, whose columns are long, come last.
        """
        import numpy as np

        terms, times = np.unique(query, return_counts=True)
        most = self._peaks[terms].astype(np.float64) * times
        order = np.argsort(-most, kind="stable")
        to_come = np.append(np.cumsum(most[order][::-1])[::-1], 0.0)  # [i]: what terms[i:] can add together
        rest = _Rest(terms[order].tolist(), times[order].tolist(), to_come.tolist(), 1 - ROUNDING * (len(query) + 2))
        count, place = self._reach(rest, top_k)
        floor = rest.keep * self._least(count, top_k)
        least = np.float32(floor - rest.to_come[place])
        count = self._loops.take(self._sums, self._reached, count, least, self._partial)
        found, partial = self._reached[:count], self._partial[:count]
        order = np.argsort(found)
        return self._narrowed(found[order], partial[order], top_k, rest.after(place))

    def _reach(self, rest: "_Rest", top_k: int) -> tuple[int, int]:
        """Adds up whole columns until no other document can be among the best: (documents reached, columns added)."""
        import numpy as np

        count = 0
        for place, (term, times) in enumerate(zip(rest.terms, rest.times, strict=True)):
            documents, values = self._column(term)
            worth_a_look = len(documents) > count // 4  # it costs a glance at each document reached
            if worth_a_look and rest.to_come[place] < rest.keep * self._least(count, top_k):
                return count, place
            count = self._loops.add(documents, values, np.float32(times), self._sums, self._reached, count)
        return count, len(rest.terms)

    def _least(self, count: int, top_k: int) -> float:
        """The k-th best sum so far; 0 while there are fewer."""
        import numpy as np

        if count < top_k:
            return 0.0
        return float(self._loops.least_of_best(self._sums, self._reached, count, np.zeros(top_k, np.float32)))

    def _narrowed(self, found, partial, top_k: int, rest: "_Rest"):
        """Looks the rest of the terms up for the documents `found`, fewer and fewer of which can be among the best."""
        import numpy as np

        for term, times, to_come in zip(rest.terms, rest.times, rest.to_come[1:], strict=True):
            partial = partial + self._looked_up(term, found) * times
            if len(found) > top_k:
                least = np.partition(partial, len(found) - top_k)[len(found) - top_k]
                hopeful = partial + to_come >= rest.keep * least
                found, partial = found[hopeful], partial[hopeful]
        return found

    def _column(self, term: int):
        start, end = int(self._starts[term]), int(self._starts[term + 1])
        return self._documents[start:end], self._values[start:end]

    def _looked_up(self, term: int, found):
        """The term's value in each of the documents `found`, 0 where it does not occur."""
        import numpy as np

        documents, values = self._column(term)
        places = np.minimum(np.searchsorted(documents, found), len(documents) - 1)
        return np.where(documents[places] == found, values[places], np.float32(0))


@dataclass(frozen=True, slots=True)
class _Rest:
    """Terms of a query with how often each occurs, and to_come[i]: the most that terms[i:] can add to a score.

    keep: what rounding leaves of a sum.
    """

    terms: list[int]
    times: list[int]
    to_come: list[float]
    keep: float

    def after(self, place: int) -> "_Rest":
        return _Rest(self.terms[place:], self.times[place:], self.to_come[place:], self.keep)
