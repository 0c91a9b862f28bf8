"""Where questions come from, a file or the hub, and the corpora that belong to them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from hbench.core.corpus import Document
from hbench.core.digest import Json, digest
from hbench.core.failure import HbenchError
from hbench.parts.families import _qa_files
from hbench.parts.families._qa_rows import QaRow, distinct, documents_of, read_document, read_row

_READER = 1  # raised when the same file gives other documents
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError)  # what a row of another shape raises
_HUB = {
    "hotpotqa": ("hotpotqa/hotpot_qa", "distractor"),
    "musique": ("dgslibisey/MuSiQue", None),
    "2wiki": ("framolfese/2WikiMultihopQA", None),
}


class Source(Protocol):
    """Rows of questions. digest: of everything they and their corpus are read from."""

    where: str
    digest: str

    def rows(self) -> Iterator[Json]: ...


@dataclass(frozen=True)
class FileSource:
    """A published file or a slice. 2WikiMultihopQA's other answers stand in id_aliases.json beside its file."""

    path: Path

    @property
    def where(self) -> str:
        return str(self.path)

    @property
    def digest(self) -> str:
        aliases = self._aliases
        return digest([_qa_files.digest_of(file) for file in (self.path, *([aliases] if aliases else []))])

    def rows(self) -> Iterator[Json]:
        return _qa_files.rows_of(self.path)

    def aliases(self) -> Mapping[str, Sequence[str]]:
        """answer_id -> other answers that the published script accepts (aliases and demonyms)."""
        rows = _qa_files.rows_of(self._aliases) if self._aliases else ()
        return {row["Q_id"]: [*row.get("aliases", ()), *row.get("demonyms", ())] for row in rows}

    @property
    def _aliases(self) -> Path | None:
        file = self.path.with_name("id_aliases.json")
        return file if file.is_file() else None


@dataclass(frozen=True)
class HubSource:
    """A dataset of the Hugging Face hub, through `datasets`. Raises HbenchError where it cannot be loaded."""

    repository: str
    configuration: str | None
    split: str

    @property
    def where(self) -> str:
        return f"{self.repository} ({self.split})"

    @property
    def digest(self) -> str:
        files = [Path(one["filename"]) for one in self._data.cache_files]
        return digest([_qa_files.digest_of(file) for file in files])

    def rows(self) -> Iterator[Json]:
        return iter(self._data)

    def aliases(self) -> Mapping[str, Sequence[str]]:
        return {}

    @property
    def _data(self) -> Any:
        loaded = _load(self.repository, self.configuration, self.split)
        if isinstance(loaded, HbenchError):
            raise loaded
        return loaded


@cache
def _load(repository: str, configuration: str | None, split: str) -> Any:
    """The dataset, or an HbenchError, kept as well: without network each try takes the library half a minute."""
    try:
        import datasets
    except ImportError:
        advice = "pip install datasets, or name a published file in family.source"
        return HbenchError(f"family.source: hub needs the package datasets ({advice})")
    try:
        return datasets.load_dataset(repository, configuration, split=split)
    except Exception as trouble:  # whatever the library and its network code raise
        advice = "a machine without network needs a file: family.source: <path>"
        return HbenchError(f"{repository} cannot be loaded from the hub: {trouble} ({advice})")


def hub_source(name: str, split: str, source: str) -> HubSource:
    """source: hub, hub:owner/name or hub:owner/name:configuration."""
    _, _, given = source.partition(":")
    repository, _, configuration = given.partition(":")
    known = _HUB[name] if not repository else (repository, configuration or None)
    return HubSource(*known, "train+validation" if split == "any" else split)


def read_questions(source: FileSource | HubSource) -> list[QaRow]:
    """All questions of a source, in its order. Raises HbenchError, naming the row, where one cannot be read."""
    aliases, found = source.aliases(), []
    for number, row in enumerate(source.rows(), 1):
        try:
            made = read_row(row, aliases)
        except _UNREADABLE as bad:
            raise HbenchError(f"{source.where}, row {number}: {_words(bad)}") from bad
        found += [made] if made else []
    return found


def _words(bad: Exception) -> str:
    return str(bad) if isinstance(bad, ValueError) else f"not a row of questions ({type(bad).__name__}: {bad})"


@dataclass(frozen=True)
class QuestionCorpus:
    """Support and distractor paragraphs of all questions of a source, each once."""

    name: str
    source: FileSource | HubSource

    @property
    def digest(self) -> str:
        return digest(["paragraphs of questions", _READER, self.source.digest])

    def documents(self) -> Iterator[Document]:
        return documents_of(self.source.rows())


@dataclass(frozen=True)
class FileCorpus:
    """Documents of a file, or of a folder of files such as HotpotQA's abstracts of Wikipedia; streamed."""

    name: str
    path: Path

    @property
    def digest(self) -> str:
        return digest(["documents", _READER, _qa_files.digest_of(self.path)])

    def documents(self) -> Iterator[Document]:
        return distinct(self._read())

    def _read(self) -> Iterator[Document]:
        for file in _qa_files.files_of(self.path):
            for number, row in enumerate(_qa_files.rows_of(file), 1):
                try:
                    yield read_document(row)
                except _UNREADABLE as bad:
                    raise HbenchError(f"{file}, row {number}: {_words(bad)}") from bad
