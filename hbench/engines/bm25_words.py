"""Text to terms, by the rule of bm25s: lower case, words of two letters or more, no stopwords, English stems."""

import re
from collections.abc import Iterable
from itertools import islice

from hbench.core.failure import HbenchError

LAYOUT = "1"  # raised when what is written to an index changes
LONGEST_QUERY = 1000  # words of a query that count: a query of a megabyte must not hold up all others
WORD = re.compile(r"(?u)\b\w\w+\b")  # the default of bm25s.tokenize
STOPWORD = -1


class Words(dict):
    """Word -> number of its term, -1 for a stopword; a word not seen before gets its stem's number, or the next one.

    terms: stem -> number, in order of first sight. Used from one thread at a time.
    """

    def __init__(self, terms: dict[str, int]):
        stopwords, self._stem = _library()
        super().__init__(dict.fromkeys(stopwords, STOPWORD))
        self.terms = terms

    def __missing__(self, word: str) -> int:
        number = self[word] = self.terms.setdefault(self._stem(word), len(self.terms))
        return number


class QueryWords:
    """Queries to term numbers, against a vocabulary that no longer grows. Used from one thread at a time."""

    def __init__(self, terms: dict[str, int]):
        stopwords, self._stem = _library()
        self._stopwords, self.terms = frozenset(stopwords), terms

    def numbers(self, query: str) -> list[int]:
        """Term numbers in order, repeated as the query repeats them; unknown words are left out."""
        words = (found.group() for found in WORD.finditer(query.lower()))
        known = (self.terms.get(self._stem(word), STOPWORD) for word in words if word not in self._stopwords)
        return list(islice((number for number in known if number != STOPWORD), LONGEST_QUERY))


def recipe() -> dict[str, str]:
    """What an index depends on beside its documents."""
    from importlib.metadata import version

    _library()
    return {"layout": LAYOUT, "bm25s": version("bm25s"), "stemmer": "english " + version("PyStemmer")}


def words_of(texts: Iterable[str]) -> list[list[str]]:
    return [WORD.findall(text.lower()) for text in texts]


def _library():
    """Stopwords and the stemming function. Raises HbenchError with the command that installs them."""
    try:
        from bm25s.stopwords import STOPWORDS_EN
        from Stemmer import Stemmer
    except ImportError as missing:
        hint = "pip install 'hbench[retrieval]'"
        raise HbenchError(f"searching a corpus needs the extra 'retrieval' ({missing}): {hint}") from None
    return STOPWORDS_EN, Stemmer("english", 0).stemWord  # 0: it keeps no words; a hostile query's may be huge
