"""A corpus as it comes from its source, in files that only grow: what is spooled survives a kill."""

import json
import os
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

from hbench.core.corpus import Document
from hbench.engines.bm25_words import STOPWORD, Words, words_of

# One record a document: where its line and its id end, its tokens, its different terms.
DOCUMENT = [("text_end", "<i8"), ("id_end", "<i8"), ("length", "<i4"), ("terms", "<i4")]
POSTING = [("term", "<i4"), ("count", "<i4")]  # one a document and term, ascending by term inside a document

TEXTS, RECORDS = "texts.jsonl", "documents.rec"  # these two stay in the index
IDS, POSTINGS, VOCABULARY = "ids.bin", "postings.rec", "vocabulary.txt"
GROWING = (TEXTS, RECORDS, IDS, POSTINGS, VOCABULARY)
JOURNAL = "spool.jsonl"


class Spool:
    """Opened for going on: every file is cut back to the last whole chunk.

    documents: how many are spooled. whole: the source had no more.
    A line of the journal is written when the files it speaks of are on the disk, so it never promises too much.
    """

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        mark, journal_size = self._last_mark()
        self.documents, self.whole, self._sizes = mark["documents"], mark["whole"], mark["sizes"]
        self._files = {name: open(folder / name, "ab") for name in (*GROWING, JOURNAL)}
        for name, file in self._files.items():
            os.truncate(file.fileno(), {**self._sizes, JOURNAL: journal_size}[name])
        terms = (folder / VOCABULARY).read_bytes().decode().split("\n")[:-1]
        self.words = Words({term: number for number, term in enumerate(terms)})

    def add(self, documents: Sequence[Document]) -> None:
        """Spools a chunk. When this returns, it is kept."""
        known = len(self.words.terms)
        records, postings = _counted([f"{d.title}\n{d.text}" for d in documents], self.words)
        lines = [encoded(document) for document in documents]
        ids = [d.id.encode("utf-8", "surrogatepass") for d in documents]
        records["text_end"] = self._ends(TEXTS, lines)
        records["id_end"] = self._ends(IDS, ids)
        fresh = list(islice(reversed(self.words.terms), len(self.words.terms) - known))[::-1]
        parts = {
            TEXTS: b"".join(lines),
            RECORDS: records.tobytes(),
            IDS: b"".join(ids),
            POSTINGS: postings.tobytes(),
            VOCABULARY: "".join(term + "\n" for term in fresh).encode(),
        }
        for name, part in parts.items():
            self._put(name, part)
            self._sizes[name] += len(part)
        self.documents += len(documents)
        self._mark()

    def clear(self) -> None:
        """Forgets everything."""
        for name in (JOURNAL, *GROWING):
            os.truncate(self._files[name].fileno(), 0)
        self.documents, self.whole, self._sizes = 0, False, dict.fromkeys(GROWING, 0)
        self.words = Words({})

    def end(self) -> None:
        """Says that the source had no more."""
        self.whole = True
        self._mark()

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def last_line(self) -> bytes:
        """The line of the last document, b"" when there is none."""
        import numpy as np

        ends = np.fromfile(self.folder / RECORDS, DOCUMENT)["text_end"][-2:].tolist()
        start, end = ([0, 0] + ends)[-2:]
        with open(self.folder / TEXTS, "rb") as texts:
            texts.seek(start)
            return texts.read(end - start)

    def _mark(self) -> None:
        mark = {"documents": self.documents, "whole": self.whole, "sizes": self._sizes}
        self._put(JOURNAL, json.dumps(mark).encode() + b"\n")

    def _put(self, name: str, content: bytes) -> None:
        file = self._files[name]
        file.write(content)
        file.flush()
        os.fsync(file.fileno())

    def _last_mark(self) -> tuple[dict, int]:
        """The last whole line of the journal whose files are still as long as it says, and where that line ends."""
        last, end = {"documents": 0, "whole": False, "sizes": dict.fromkeys(GROWING, 0)}, 0
        for line in _content(self.folder / JOURNAL).splitlines(keepends=True):
            try:
                mark = json.loads(line)
                there = all(mark["sizes"][name] <= _size(self.folder / name) for name in GROWING)
            except (ValueError, KeyError, TypeError):
                break
            if not there or not line.endswith(b"\n"):
                break
            last, end = mark, end + len(line)
        return last, end

    def _ends(self, name: str, parts: list[bytes]):
        import numpy as np

        return self._sizes[name] + np.cumsum([len(part) for part in parts])


def encoded(document: Document) -> bytes:
    """The document's line in the texts file. Lone surrogates are kept."""
    line = json.dumps([document.id, document.title, document.text], ensure_ascii=False, separators=(",", ":"))
    return line.encode("utf-8", "surrogatepass") + b"\n"


def decoded(line: bytes) -> Document:
    return Document(*json.loads(line.decode("utf-8", "surrogatepass")))


def _content(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


def _size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


def _counted(texts: list[str], words: Words):
    """(records, postings) of some texts; the records' ends are left to the caller."""
    import numpy as np

    found = words_of(texts)
    sizes = np.fromiter(map(len, found), np.int64, len(found))
    terms = np.fromiter(map(words.__getitem__, chain.from_iterable(found)), np.int64, sizes.sum())
    of = np.repeat(np.arange(len(found)), sizes)  # the document of each word
    kept = terms != STOPWORD
    pairs, counts = np.unique((of << 32 | terms)[kept], return_counts=True)
    postings = np.empty(len(pairs), POSTING)
    postings["term"], postings["count"] = pairs & 0xFFFFFFFF, counts
    records = np.zeros(len(found), DOCUMENT)
    records["length"] = np.bincount(of[kept], minlength=len(found))
    records["terms"] = np.bincount(pairs >> 32, minlength=len(found))
    return records, postings
