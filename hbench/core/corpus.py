"""Documents that a harness may search, and what a search gives back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from hbench.core.digest import Json


@dataclass(frozen=True, slots=True)
class Document:
    """One paragraph. id: unique in its corpus; titles may repeat."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A document found. score: the engine's own, higher is better."""

    document: Document
    score: float

    def to_json(self) -> Json:
        """What a harness gets."""
        return {"id": self.document.id, "title": self.document.title, "text": self.document.text}


class CorpusSource(Protocol):
    """Where a corpus comes from. Equal digests mean equal documents in equal order."""

    name: str
    digest: str

    def documents(self) -> Iterator[Document]:
        """Every document once, in a fixed order, as a stream: a corpus may be larger than memory."""
        ...


class Corpus(Protocol):
    """An opened corpus. Used from one asyncio loop; searches that arrive together are made together."""

    async def search(self, query: str, top_k: int) -> Sequence[Passage]:
        """The best passages, best first, at most top_k; ties by document id. Raises StepError when the index is broken."""
        ...

    async def close(self) -> None: ...
