"""The corpora of multi-hop questions, grading beside them, and the real slices as they are."""

import pytest

from hbench.core.failure import HbenchError
from hbench.core.question import Question
from hbench.parts.families import _qa_files
from hbench.parts.families._qa_files import digest_of
from hbench.parts.families._qa_source import QuestionCorpus
from hbench.parts.part import build
from tests.parts.families.qa_world import ASKED, GIVEN, NAMES, SLICE, family, here, many, write  # noqa: F401 (here is a fixture)
from tests.where import data


def test_the_corpus_beside_the_questions_is_taken_else_all_their_paragraphs(here):
    write(here / "musique.jsonl.gz", many(3))
    assert [d.title for d in family("musique").corpus().documents()] == ["Iser", "Grauburg", "Ada Lang"]
    write(here / "musique_corpus.jsonl.gz", [{"title": "Own", "text": "x"}])
    assert [d.title for d in family("musique").corpus().documents()] == ["Own"]


def abstracts(folder, count=3):
    """The layout of HotpotQA's abstracts: two letters, packed files, lines with sentences."""
    for part in range(count):
        rows = [
            {"id": str(10 * part + i), "url": "-", "title": f"Page {part}-{i}", "text": ["First.", " Second."]}
            for i in range(2)
        ]
        write(folder / ("AA" if part < 2 else "AB") / f"wiki_{part:02}.bz2", rows)
    return folder


def test_all_abstracts_of_wikipedia_are_a_folder_of_packed_files(here):
    write(here / "hotpotqa.jsonl", [SLICE])
    abstracts(here / "enwiki")
    corpus = family(documents="enwiki").corpus()
    titles = [d.title for d in corpus.documents()]
    assert titles == ["Page 0-0", "Page 0-1", "Page 1-0", "Page 1-1", "Page 2-0", "Page 2-1"]
    assert next(iter(corpus.documents())).text == "First. Second."


def test_a_corpus_has_each_document_once_and_repeated_titles_stay(here):
    write(here / "musique.jsonl", [SLICE])
    write(here / "c.jsonl", [{"title": "T", "text": text} for text in ("x", "y", "x", "x ")])
    assert [d.text for d in family("musique", documents="c.jsonl").corpus().documents()] == ["x", "y"]


def test_a_corpus_is_another_when_a_file_of_it_changes_and_the_same_elsewhere(here):
    write(here / "hotpotqa.jsonl", [SLICE])
    before = digest_of(abstracts(here / "one"))
    assert digest_of(abstracts(here / "two")) == before
    changed = here / "two" / "AB" / "wiki_02.bz2"
    write(changed, [{"title": "Page 2-0", "text": ["First.", " Secund."]}])
    _qa_files._folder_digest.cache_clear()  # a minute later
    assert digest_of(here / "two") != before
    assert family(documents="one").to_json()["libraries"] != family(documents="two").to_json()["libraries"]


def test_a_missing_corpus_and_a_broken_one_are_named(here):
    write(here / "hotpotqa.jsonl", [SLICE])
    with pytest.raises(HbenchError, match="family.documents: no file 'nowhere'"):
        family(documents="nowhere").corpus()
    write(here / "c.jsonl", [{"title": "T", "text": "x"}, {"name": "T"}])
    with pytest.raises(HbenchError, match="c.jsonl, row 2: it needs title and text, it has name"):
        list(family(documents="c.jsonl").corpus().documents())


def test_grading_reads_no_file():
    """The grader's jail builds the family from its block, and has no data in it."""
    asked = family("hotpotqa", source="nowhere.json")
    question = Question.of("hotpotqa", ASKED["question"], "1950", "content", {"aliases": []})
    assert build("families", asked.to_json()).grade("1950", question) == {"em": 1.0, "f1": 1.0}
    assert set(asked.grade("", question)) == set(asked.grade_names())


def slice_of(name, monkeypatch, **fields):
    monkeypatch.setenv("HBENCH_DATA", GIVEN) if GIVEN else monkeypatch.delenv("HBENCH_DATA", raising=False)
    monkeypatch.setenv("HBENCH_DATA", str(data()))
    return family(name, **fields)


SIZES = {"hotpotqa": (1000, 1000, 9817), "musique": (200, 317, 5021), "2wiki": (164, 510, 9561)}


@pytest.mark.parametrize("name", NAMES)
def test_the_real_slices_are_whole(name, monkeypatch):
    official, validation, documents = SIZES[name]
    asked = slice_of(name, monkeypatch)
    questions = asked.questions(0, 5000, seed=0)
    assert len(questions) == official
    assert len(slice_of(name, monkeypatch, origin="any").questions(0, 5000, 0)) == validation
    corpus = {d.id: d for d in asked.corpus().documents()}
    assert len(corpus) == documents
    for question in questions:
        assert [corpus[one].title for one in question.meta["supporting"]] == question.meta["supporting_titles"]
        assert len(question.meta["supporting"]) >= 2
        assert asked.grade(f" {question.answer}\n", question) == {"em": 1.0, "f1": 1.0}


def test_titles_repeat_in_musique_and_only_there(monkeypatch):
    for name in NAMES:
        titles = [d.title for d in slice_of(name, monkeypatch).corpus().documents()]
        assert (len(set(titles)) < len(titles)) == (name == "musique")


def test_the_paragraphs_of_the_questions_are_the_corpus_of_two_slices(monkeypatch):
    for name in ("hotpotqa", "musique"):
        asked = slice_of(name, monkeypatch)
        own = {d.id for d in asked.corpus().documents()}
        assert {d.id for d in QuestionCorpus(name, asked._source()).documents()} == own
