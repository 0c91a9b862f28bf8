"""One row of HotpotQA, MuSiQue or 2WikiMultihopQA, in whichever layout it was published."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hbench.core.corpus import Document
from hbench.core.digest import Json, digest


@dataclass(frozen=True, slots=True)
class QaRow:
    """A question without its distractors.

    supporting: ids of the gold paragraphs that the row holds, in its order. supporting_titles: theirs first, then those
    of gold paragraphs that the row lacks (HotpotQA's fullwiki files). split and origin: "" where the row names none.
    """

    source_id: str
    question: str
    answer: str
    aliases: tuple[str, ...]
    supporting: tuple[str, ...]
    supporting_titles: tuple[str, ...]
    type: str
    split: str
    origin: str


def document(title: str, text: str) -> Document:
    """A paragraph; its id is 16 hex digits of title and text, blanks apart: files differ in how they join sentences."""
    return Document(digest([title, "".join(text.split())])[:16], title, text)


def read_row(row: Json, aliases: Mapping[str, Sequence[str]]) -> QaRow | None:
    """The question of a row; None for one that MuSiQue made unanswerable. aliases: by answer_id.

    Raises ValueError, saying what is missing.
    """
    if row.get("answerable") is False:
        return None
    if not isinstance(row.get("question"), str) or not isinstance(row.get("answer"), str) or not row["answer"]:
        raise ValueError("it has no question, or no answer (a test file?)")
    supporting = {d.id: d.title for d, is_gold in _paragraphs(row) if is_gold}
    absent = [title for title in _gold_titles(row) if title not in supporting.values()]
    source_id = str(row.get("id") or row.get("_id") or "")
    others = [*(row.get("answer_aliases") or ()), *aliases.get(row.get("answer_id") or "", ())]
    return QaRow(
        source_id=source_id,
        question=row["question"],
        answer=row["answer"],
        aliases=tuple(dict.fromkeys(other for other in others if other != row["answer"])),
        supporting=tuple(supporting),
        supporting_titles=(*supporting.values(), *absent),
        type=str(row.get("type") or source_id.partition("__")[0]),  # MuSiQue's ids begin with it
        split=row.get("split") or "",
        origin=row.get("context_origin") or "",
    )


def documents_of(rows: Iterable[Json]) -> Iterator[Document]:
    """Every paragraph of these rows of questions, each once."""
    return distinct(paragraph for row in rows for paragraph, _ in _paragraphs(row))


def read_document(row: Json) -> Document:
    """A row of a corpus file: title, and text (or contents, or sentences) as text or as a list, nested or not."""
    text = next((row[key] for key in ("text", "paragraph_text", "contents", "sentences") if key in row), None)
    if text is None or not isinstance(row.get("title"), str):
        raise ValueError(f"it needs title and text, it has {', '.join(sorted(row))}")
    return document(row["title"], _joined(text))


def distinct(documents: Iterable[Document]) -> Iterator[Document]:
    """The first of each id. Remembers 8 bytes of digest a document: 0.5 GB at five million."""
    seen: set[int] = set()
    for one in documents:
        number = int(one.id, 16)
        if number not in seen:
            seen.add(number)
            yield one


def _paragraphs(row: Json) -> Iterator[tuple[Document, bool]]:
    """(paragraph, whether it is gold) of a row of questions."""
    if "paragraphs" in row:
        for one in row["paragraphs"]:
            yield read_document(one), bool(one.get("is_supporting"))
        return
    if "context" not in row:
        raise ValueError(f"it has neither paragraphs nor context, it has {', '.join(sorted(row))}")
    gold = set(_gold_titles(row))
    for title, sentences in _pairs(row["context"], "sentences"):
        yield document(title, _joined(sentences)), title in gold


def _gold_titles(row: Json) -> list[str]:
    """Titles of the supporting facts, each once, in order; none where the row marks its paragraphs instead."""
    return list(dict.fromkeys(title for title, _ in _pairs(row.get("supporting_facts") or [], "sent_id")))


def _pairs(value: Json, second: str) -> Iterable[tuple[str, Json]]:
    """[[title, x], …] as published, {"title": […], second: […]} as the hub has it, or either as JSON text."""
    if isinstance(value, str):
        value = json.loads(value)
    if isinstance(value, Mapping):
        return zip(value["title"], value.get(second, value.get("content")), strict=True)
    return ((one[0], one[1]) for one in value)


def _joined(text: Json) -> str:
    if isinstance(text, str):
        return text
    return " ".join(part for part in (_joined(one).strip() for one in text) if part)
