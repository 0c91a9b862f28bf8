"""HotpotQA, MuSiQue and 2WikiMultihopQA: questions that need several paragraphs, and the paragraphs to search."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal

from pydantic import Field

from hbench.core.corpus import CorpusSource
from hbench.core.digest import derive_seed
from hbench.core.failure import HbenchError
from hbench.core.installed import installed_version
from hbench.core.question import Question
from hbench.parts.families import _em_f1, _qa_files
from hbench.parts.families._qa_rows import QaRow
from hbench.parts.families._qa_source import FileCorpus, FileSource, HubSource, QuestionCorpus
from hbench.parts.families._qa_source import hub_source, read_questions
from hbench.parts.part import Part

_ASKED = {
    "hotpotqa": "Questions about Wikipedia that need facts from two articles: one leads to the other, or two are "
    "compared.",
    "musique": "Questions composed of two to four simpler ones: the answer to one names what the next one asks about.",
    "2wiki": "Questions about Wikipedia that need facts from two to four articles: a chain of relations, a comparison, "
    "or both.",
}
_ANSWERED = (
    "search() finds paragraphs; the question alone seldom finds all that are needed. The answer is a short span (a "
    "name, a date, a number) or yes or no, graded by exact match; case, articles and punctuation do not count."
)


class MultihopQa(Part):
    """Published multi-hop questions with their paragraphs: a file, a slice of one, or the Hugging Face hub."""

    version: ClassVar[int] = 1
    own_process_per_answer: ClassVar[bool] = False  # grading is our own comparison of two texts

    kind: Literal["multihop_qa"]
    name: Literal["hotpotqa", "musique", "2wiki"] = Field(description="which of the three")
    source: str | None = Field(
        None,
        description="file of questions, looked up here and in $HBENCH_DATA/qa (a bare name keeps the spec portable); "
        "hub or hub:owner/name:configuration; default: a published file, else a slice, from $HBENCH_DATA/qa",
    )
    split: Literal["validation", "train", "any"] = Field(
        "validation", description="questions of this split; a published file is all of one"
    )
    origin: Literal["official", "any"] = Field(
        "official", description="official: only questions with their published distractors, where rows say so"
    )
    documents: str | None = Field(
        None,
        description="corpus to search: a file or folder of {title, text} rows, e.g. HotpotQA's abstracts of all of "
        "Wikipedia; default: <questions>_corpus.jsonl beside the questions, else all paragraphs of the questions",
    )

    def describe(self) -> str:
        """What is asked, and how it is graded; holds no question."""
        return f"{_ASKED[self.name]} {_ANSWERED}"

    def versions(self) -> Mapping[str, str]:
        """Digests of what is read, `absent` where a file is not there: a plan can be made without it, not run."""
        read = {"questions": _digest_of(self._source), "corpus": _digest_of(self.corpus)}
        return {**read, "bm25s": installed_version("bm25s")}

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        """Questions `start` to `stop` in the order that `seed` gives, fewer where they end.

        meta: supporting (ids of gold paragraphs), supporting_titles (theirs in the same order, then those of gold
        paragraphs that the file lacks), titles_are_unique, aliases, type, source_id. Raises HbenchError when the file
        is not there, is broken, or holds no such question.
        """
        source = self._source()
        order = _ordered(_Pool(source, source.digest, self.name, self.split, self.origin), seed)
        return [replace(question, pool_index=start + i) for i, question in enumerate(order[start:stop])]

    def corpus(self) -> CorpusSource:
        """What search() searches. Raises HbenchError when it is not there."""
        if self.documents:
            file = _qa_files.find(self.documents)
            if file is None:
                raise HbenchError(f"family.documents: {_qa_files.how_to_get(self.name, self.split, self.documents)}")
            return FileCorpus(self.name, file)
        source = self._source()
        beside = _qa_files.corpus_beside(source.path) if isinstance(source, FileSource) else None
        return FileCorpus(self.name, beside) if beside else QuestionCorpus(self.name, source)

    def _source(self) -> FileSource | HubSource:
        if self.source and self.source.partition(":")[0] == "hub":
            return hub_source(self.name, self.split, self.source)
        file = _qa_files.find_questions(self.name, self.split, self.source)
        if file is None:
            raise HbenchError(_qa_files.how_to_get(self.name, self.split, self.source))
        return FileSource(file)

    def grade_names(self) -> tuple[str, ...]:
        return _em_f1.GRADES

    def grade(self, answer: str, question: Question) -> Mapping[str, float]:
        """em: 0.0 or 1.0; f1: in [0, 1]; each the best over the answer and its aliases."""
        return _em_f1.grade_answer(answer, question, frozenset() if self.name == "musique" else _em_f1.WHOLE)


@dataclass(frozen=True)
class _Pool:
    """What decides which questions there are. digest: of `source`, so that a changed file is read again."""

    source: FileSource | HubSource
    digest: str
    name: str
    split: str
    origin: str

    def takes(self, row: QaRow) -> bool:
        """A published file names neither split nor origin: all of it is one split, and official."""
        of_split = self.split == "any" or row.split in ("", self.split)
        return of_split and (self.origin == "any" or row.origin == "" or row.origin.startswith("official"))


@lru_cache(maxsize=8)
def _ordered(pool: _Pool, seed: int) -> tuple[Question, ...]:
    """Sorted by a digest of seed and content, so a question keeps its neighbours whatever else is filtered out."""
    keyed = ((derive_seed("multihop_qa", pool.name, seed, question.content_id), question) for question in _read(pool))
    return tuple(question for _, question in sorted(keyed, key=lambda pair: (pair[0], pair[1].id)))


@lru_cache(maxsize=4)
def _read(pool: _Pool) -> tuple[Question, ...]:
    rows = read_questions(pool.source)
    found = tuple(_question(pool.name, row) for row in rows if pool.takes(row))
    if not found:
        there = Counter(f"{row.split or 'no split'} {row.origin}".strip() for row in rows)
        shown = ", ".join(f"{sort} {count}" for sort, count in sorted(there.items())) or "no question"
        asked = f"family.split {pool.split}, family.origin {pool.origin}"
        raise HbenchError(f"{pool.source.where} has no question of {asked}; it has: {shown}")
    return found


def _question(name: str, row: QaRow) -> Question:
    meta = {
        "supporting": list(row.supporting),
        "supporting_titles": list(row.supporting_titles),
        "titles_are_unique": name != "musique",  # then a title found is the document found, whatever its text
        "aliases": list(row.aliases),
        "type": row.type,
        "source_id": row.source_id,
    }
    content = " ".join(row.question.split()).casefold()
    return Question.of(name, row.question, row.answer, content, meta)


def _digest_of(find: Callable[[], Any]) -> str:
    try:
        return find().digest[:16]
    except HbenchError:
        return "absent"
