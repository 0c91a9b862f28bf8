"""HotpotQA, MuSiQue and 2WikiMultihopQA: every published layout, filters, and what goes wrong."""

import gzip
import json
import sys

import pytest

from hbench.core.failure import HbenchError
from hbench.parts.families import _qa_files, _qa_source
from hbench.parts.families._qa_files import rows_of
from hbench.parts.families._qa_rows import document
from tests.parts.families.qa_world import ASKED, HOTPOT, MUSIQUE, RIVER, SLICE, TOWN, family, here, hub_row, many, write  # noqa: F401 (here is a fixture)

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
