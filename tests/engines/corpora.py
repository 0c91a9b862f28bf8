"""Small corpora, and their indexes, for tests of search."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from hbench.core.corpus import Document
from hbench.core.digest import digest
from hbench.engines.bm25 import open_corpus
from hbench.engines.bm25_folder import index_folder
from hbench.engines.bm25_index import Index
from hbench.engines.bm25_loops import numba_loops, numpy_loops
from hbench.engines.bm25_words import QueryWords

LOOPS = {"numpy": numpy_loops, "numba": numba_loops}


@dataclass
class Listed:
    """A corpus from a list; `read` counts how many documents were asked of it."""

    items: list[Document]
    name: str = "listed"
    read: int = 0
    digest: str = field(init=False)

    def __post_init__(self):
        self.digest = digest([[d.id, d.title, d.text] for d in self.items])

    def documents(self):
        for document in self.items:
            self.read += 1
            yield document


def listed(*texts, name="listed") -> Listed:
    """A text each; ids d0, d1 …, titles empty."""
    return Listed([Document(f"d{number}", "", text) for number, text in enumerate(texts)], name)


def silent(line):
    pass


def index(source, loops="numpy") -> Index:
    return Index(index_folder(source, silent), LOOPS[loops]())


def best(index: Index, query: str, top_k: int = 10) -> list[tuple[str, float]]:
    """(document id, score) of the hits."""
    return [(index.document(n).id, score) for n, score in index.best(QueryWords(index.terms).numbers(query), top_k)]


def search(source, *queries, top_k=10):
    """What one opened corpus answers to queries that arrive together."""

    async def together():
        corpus = open_corpus(source, silent)
        try:
            return await asyncio.gather(*(corpus.search(query, top_k) for query in queries))
        finally:
            await corpus.close()

    return asyncio.run(together())


def content(folder: Path) -> dict[str, bytes]:
    """Everything that an index folder holds, but for the times in its manifest."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.name != "index.json"}
