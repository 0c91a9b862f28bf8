"""The view support_recall: which supporting documents a rollout's searches found."""

import json

import pytest

from hbench.core.digest import text_digest
from hbench.store.artifacts import Store
from hbench.store.database import fold
from hbench.store.query import query
from tests.store.made import put


def asked(question: str, **meta) -> dict:
    row = {"question_id": question, "content_id": question, "family": "f", "pool_index": 0, "text": "?", "answer": "x"}
    return row | {"meta": meta}


def rolled(question: str, *searches: list[str], repeat: int = 0) -> dict[str, list[dict]]:
    """A rollout with these searches; a found document is `id=title`, or one text for both."""
    at = {"question_id": question, "repeat": repeat}
    rows = {"rollouts": [at | {"harness_id": "h", "score": 1.0, "completed": True}], "events": [], "texts": []}
    for position, documents in enumerate(searches):
        found = [dict(zip(("id", "title"), d.split("=") * 2, strict=False)) for d in documents]
        text = json.dumps(found)
        rows["events"].append(at | {"position": position, "kind": "search", "received_digest": text_digest(text)})
        rows["texts"].append({"digest": text_digest(text), "text": text})
    return rows


def recall(folder, questions: list[dict], *rollouts: dict) -> list[tuple]:
    store = Store(folder)
    put(store, "split", {"questions": questions})
    for i, rows in enumerate(rollouts):
        put(store, f"step {i}", rows, {"i": i})
    assert fold(folder).messages == ()
    return query(folder, "select question_id, supporting, found, recall from support_recall order by all").rows


def test_documents_of_all_searches_count_once(tmp_path):
    found = recall(tmp_path, [asked("q", supporting=["a", "b", "c"])], rolled("q", ["a", "x"], ["a", "b"]))
    assert found == [("q", 3, 2, pytest.approx(2 / 3))]


def test_a_rollout_without_a_search_found_none_and_a_question_without_documents_has_no_row(tmp_path):
    questions = [asked("q", supporting=["a"]), asked("plain"), asked("empty", supporting=[])]
    found = recall(tmp_path, questions, rolled("q"), rolled("plain", ["a"]), rolled("empty", ["a"]))
    assert found == [("q", 1, 0, 0.0)]


def test_titles_that_repeat_do_not_make_a_document_found(tmp_path):
    meta = {"supporting": ["1"], "supporting_titles": ["Ada"]}
    assert recall(tmp_path / "a", [asked("q", **meta)], rolled("q", ["2=Ada"])) == [("q", 1, 0, 0.0)]
    unique = asked("q", titles_are_unique=True, **meta)
    assert recall(tmp_path / "b", [unique], rolled("q", ["2=Ada"])) == [("q", 1, 1, 1.0)]


def test_a_supporting_document_that_the_corpus_lacks_counts_as_missed_unless_its_title_is_found(tmp_path):
    meta = {"supporting": ["1"], "supporting_titles": ["Ada", "Bell"], "titles_are_unique": True}
    assert recall(tmp_path, [asked("q", **meta)], rolled("q", ["1=Ada"])) == [("q", 2, 1, 0.5)]


def test_repeats_are_apart(tmp_path):
    found = recall(tmp_path, [asked("q", supporting=["a"])], rolled("q", ["a"]), rolled("q", ["b"], repeat=1))
    assert sorted(row[3] for row in found) == [0.0, 1.0]
