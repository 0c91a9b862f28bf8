"""HotpotQA, MuSiQue and 2WikiMultihopQA: every published layout, the real slices, their corpora, and what goes wrong."""

import bz2
import gzip
import json
import os
import sys

import pytest

from hbench.core.failure import HbenchError
from hbench.core.question import Question
from hbench.parts.families import _qa_files, _qa_source
from hbench.parts.families._qa_files import digest_of, rows_of
from hbench.parts.families._qa_rows import document
from hbench.parts.families._qa_source import QuestionCorpus
from hbench.parts.part import build
from tests.where import data

GIVEN = os.environ.get("HBENCH_DATA")
NAMES = ("hotpotqa", "musique", "2wiki")
TOWN = ("Grauburg", ["Grauburg is a town.", " Its mayor is Ada Lang."])
MAYOR = ("Ada Lang", ["Ada Lang was born in 1950."])
RIVER = ("Iser", ["The Iser is a river."])
ASKED = {"question": "When was the mayor of Grauburg born?", "answer": "1950"}
HOTPOT = {
    "_id": "a1",
    **ASKED,
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["Grauburg", 1], ["Ada Lang", 0]],
    "context": [list(RIVER), list(TOWN), list(MAYOR)],
}
MUSIQUE = {
    "id": "2hop__1_2",
    **ASKED,
    "answer_aliases": ["in 1950"],
    "answerable": True,
    "question_decomposition": [],
    "paragraphs": [
        {"idx": i, "title": title, "paragraph_text": "".join(text), "is_supporting": title != "Iser"}
        for i, (title, text) in enumerate([RIVER, TOWN, MAYOR])
    ],
}
SLICE = {
    **{"id": "s1", **ASKED, "type": "2hop", "split": "validation", "context_origin": "official"},
    "paragraphs": [{"title": t, "text": "".join(s), "is_supporting": t != "Iser"} for t, s in (RIVER, TOWN, MAYOR)],
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "qa").mkdir(parents=True)
    return tmp_path / "data" / "qa"


def family(name="hotpotqa", **fields):
    return build("families", {"kind": "multihop_qa", "name": name, **fields})


def write(path, rows, as_array=False):
    text = json.dumps(rows) if as_array else "".join(json.dumps(row) + "\n" for row in rows)
    packed = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed(text.encode()))
    return path


def hub_row(row):
    """HotpotQA's row as the hub has it: columns instead of pairs."""
    facts, context = row["supporting_facts"], row["context"]
    return {
        **{**row, "id": row["_id"]},
        "supporting_facts": {"title": [title for title, _ in facts], "sent_id": [number for _, number in facts]},
        "context": {"title": [title for title, _ in context], "sentences": [text for _, text in context]},
    }


LAYOUTS = {
    "hotpot_dev_distractor_v1.json": ("hotpotqa", HOTPOT, True),
    "hotpot_dev_fullwiki_v1.json": ("hotpotqa", HOTPOT, True),
    "musique_ans_v1.0_dev.jsonl": ("musique", MUSIQUE, False),
    "data_ids_april7/dev.json": ("2wiki", HOTPOT, True),
    "2wiki.jsonl.gz": ("2wiki", SLICE, False),
    "hotpotqa.jsonl": ("hotpotqa", hub_row(HOTPOT), False),
    "musique.jsonl.bz2": ("musique", {**HOTPOT, "context": json.dumps(HOTPOT["context"])}, False),
}


@pytest.mark.parametrize("file", LAYOUTS)
def test_every_published_layout_gives_the_same_question_and_paragraphs(here, file):
    name, row, as_array = LAYOUTS[file]
    write(here / file, [row], as_array)
    (question,) = family(name).questions(0, 10, seed=0)
    assert (question.text, question.answer, question.family) == (ASKED["question"], "1950", name)
    documents = {d.title: d for d in family(name).corpus().documents()}
    assert documents.keys() == {"Iser", "Grauburg", "Ada Lang"}
    assert "".join(documents["Grauburg"].text.split()) == "Grauburgisatown.ItsmayorisAdaLang."
    assert question.meta["supporting"] == [documents["Grauburg"].id, documents["Ada Lang"].id]
    assert question.meta["supporting_titles"] == ["Grauburg", "Ada Lang"]
    assert question.meta["titles_are_unique"] == (name != "musique")


def test_a_document_has_the_same_id_however_its_sentences_were_joined():
    one, other = document("T", "One. Two."), document("T", "One.\u00a0 Two.\n")
    assert one.id == other.id != document("U", "One. Two.").id
    assert len({document("T", text).id for text in ("One. Two.", "One. Three.")}) == 2


def test_aliases_count_and_are_never_the_answer_again(here):
    write(here / "musique.jsonl", [{**MUSIQUE, "answer_aliases": ["in 1950", "1950"]}])
    (question,) = family("musique").questions(0, 1, 0)
    assert question.meta["aliases"] == ["in 1950"]
    assert family("musique").grade("In 1950.", question) == {"em": 1.0, "f1": 1.0}
    assert family("musique").grade("1951", question) == {"em": 0.0, "f1": 0.0}


def test_2wikis_aliases_and_demonyms_come_from_the_file_beside_it(here):
    write(here / "2wiki_dev.json", [{**HOTPOT, "answer": "Germany", "answer_id": "Q183"}], as_array=True)
    before = family("2wiki").versions()["questions"]
    write(here / "id_aliases.json", [{"Q_id": "Q183", "aliases": ["Deutschland"], "demonyms": ["German"]}])
    (question,) = family("2wiki").questions(0, 1, 0)
    assert question.meta["aliases"] == ["Deutschland", "German"]
    assert family("2wiki").versions()["questions"] != before


def test_a_question_that_musique_made_unanswerable_is_left_out(here):
    write(here / "musique.jsonl", [{**MUSIQUE, "answerable": False, "question": "Why?"}, MUSIQUE])
    assert [q.text for q in family("musique").questions(0, 9, 0)] == [ASKED["question"]]


def test_gold_titles_whose_paragraphs_a_fullwiki_file_lacks_are_kept_as_titles(here):
    write(here / "hotpot_dev_fullwiki_v1.json", [{**HOTPOT, "context": [list(RIVER), list(TOWN)]}], as_array=True)
    (question,) = family().questions(0, 1, 0)
    assert len(question.meta["supporting"]) == 1
    assert question.meta["supporting_titles"] == ["Grauburg", "Ada Lang"]


def many(count, **more):
    return [{**SLICE, "id": f"s{i}", "question": f"Question {i}?", **more} for i in range(count)]


def test_the_order_is_the_seeds_and_a_pool_is_the_same_whatever_part_is_asked_for(here):
    write(here / "musique.jsonl", many(40))
    asked = family("musique")
    all_of_it = asked.questions(0, 100, seed=1)
    assert len(all_of_it) == 40 and [q.pool_index for q in all_of_it] == list(range(40))
    assert asked.questions(10, 20, seed=1) == all_of_it[10:20]
    assert [q.id for q in asked.questions(0, 40, seed=2)] != [q.id for q in all_of_it]


def test_the_order_of_the_file_does_not_count(here):
    write(here / "musique.jsonl", many(40))
    before = [q.id for q in family("musique").questions(0, 40, seed=1)]
    write(here / "musique.jsonl", many(40)[::-1])
    assert [q.id for q in family("musique").questions(0, 40, seed=1)] == before


def test_split_and_origin_filter_rows_that_name_them(here):
    rows = many(3) + many(2, split="train") + many(4, context_origin="rebuilt")
    write(here / "musique.jsonl", [{**row, "question": f"Q{i}?"} for i, row in enumerate(rows)])

    def count(**fields):
        return len(family("musique", **fields).questions(0, 99, 0))

    assert (count(), count(split="train"), count(origin="any"), count(split="any", origin="any")) == (3, 2, 7, 9)


def test_no_question_left_says_what_the_file_has(here):
    write(here / "musique.jsonl", many(3))
    with pytest.raises(HbenchError, match="no question of family.split train.*it has: validation official 3"):
        family("musique", split="train").questions(0, 1, 0)


def test_a_published_file_is_preferred_to_a_slice_and_a_source_to_both(here):
    write(here / "hotpotqa.jsonl", [{**SLICE, "question": "slice?"}])
    assert family().questions(0, 1, 0)[0].text == "slice?"
    write(here / "hotpot_dev_distractor_v1.json", [{**HOTPOT, "question": "published?"}], as_array=True)
    assert family().questions(0, 1, 0)[0].text == "published?"
    write(here / "mine.jsonl.gz", [{**SLICE, "question": "mine?"}])
    assert family(source="mine.jsonl").questions(0, 1, 0)[0].text == "mine?"


def test_without_a_file_a_plan_can_be_made_and_the_message_says_how_to_get_one():
    asked = family("musique")
    assert asked.to_json()["libraries"]["questions"] == asked.to_json()["libraries"]["corpus"] == "absent"
    for attempt in (lambda: asked.questions(0, 1, 0), asked.corpus):
        with pytest.raises(HbenchError, match="musique_ans_v1.0_dev.jsonl .from https://github.com/StonyBrook.*HBENCH_"):
            attempt()


def test_a_source_that_is_not_there_is_named():
    with pytest.raises(HbenchError, match="no file 'mine.jsonl'"):
        family(source="mine.jsonl").questions(0, 1, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"question": "Why?"}\n', "row 1: it has no question, or no answer"),
        (json.dumps(SLICE) + "\n{broken\n", "line 2 is not JSON"),
        (json.dumps([SLICE, SLICE])[:-40], "row 2 of the array is not JSON, or is cut off"),
        ('{"question": "Why?", "answer": "x"}', "row 1: it has neither paragraphs nor context"),
        ('["Why?"]', "row 1: not a row of questions"),
        ('{"question": "Why?", "answer": "x", "paragraphs": [{"text": "x"}]}', "row 1: it needs title and text"),
        ('{"question": "Why?", "answer": "x", "context": [["T"]]}', "row 1: not a row of questions"),
    ],
)
def test_a_broken_file_is_named_with_the_row(here, text, message):
    (here / "musique.jsonl").write_text(text)
    with pytest.raises(HbenchError, match=message) as told:
        family("musique").questions(0, 1, 0)
    assert "musique.jsonl" in str(told.value)


def test_a_cut_packed_file_is_an_error_and_not_a_shorter_corpus(here):
    whole = gzip.compress("".join(json.dumps(row) + "\n" for row in many(500)).encode())
    (here / "musique.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(HbenchError, match="cannot be read"):
        family("musique").questions(0, 1, 0)


def test_a_large_array_is_read_as_a_stream(here, monkeypatch):
    monkeypatch.setattr(_qa_files, "_CHUNK", 700)  # rows lie across the borders of what is read at once
    rows = [{"n": i, "text": "ä]},{[\"" * (i % 50)} for i in range(300)]
    spread = here / "spread.json"
    spread.write_text("\ufeff \n[ " + " ,\n\t".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n")
    assert list(rows_of(spread)) == rows
    assert list(rows_of(write(here / "empty.json", [], as_array=True))) == []


def test_the_hub_needs_its_package_or_a_network_and_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    _qa_source._load.cache_clear()
    with pytest.raises(HbenchError, match="needs the package datasets"):
        family(source="hub").questions(0, 1, 0)
    assert family(source="hub").versions()["questions"] == "absent"
    _qa_source._load.cache_clear()


def test_a_dataset_in_a_local_folder_is_read_as_from_the_hub(here):
    datasets = pytest.importorskip("datasets")
    folder = here / "mirror"
    folder.mkdir()
    datasets.Dataset.from_list([hub_row(HOTPOT)]).to_parquet(str(folder / "validation-00000.parquet"))
    asked = family(source=f"hub:{folder}")
    (question,) = asked.questions(0, 9, 0)
    assert question.answer == "1950" and len(question.meta["supporting"]) == 2
    assert len(list(asked.corpus().documents())) == 3 and asked.versions()["questions"] != "absent"
    with pytest.raises(HbenchError, match="cannot be loaded from the hub"):
        family(source=f"hub:{here / 'nowhere'}").questions(0, 1, 0)


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
