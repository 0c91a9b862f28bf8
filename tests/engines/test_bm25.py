"""Searching a corpus: hits, ties, odd queries, and searches that arrive together."""

import asyncio
import sys

import pytest

from hbench.core.corpus import Document
from hbench.core.failure import HbenchError, StepError
from hbench.engines.bm25 import open_corpus
from tests.engines.corpora import LOOPS, Listed, best, index, listed, search, silent


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path))
    return tmp_path


def ids(passages):
    return [passage.document.id for passage in passages]


def test_the_document_that_says_most_of_the_query_comes_first():
    (found,) = search(listed("a red fox", "a red fox runs home", "cold rain"), "red fox running")
    assert ids(found) == ["d1", "d0"] and found[0].score > found[1].score > 0


def test_a_title_is_searched_like_a_text_and_both_come_back():
    document = Document("7", "Port Blair", "The capital of the Andaman Islands.")
    (found,) = search(Listed([document, Document("8", "Rain", "Water.")]), "blair")
    assert [passage.document for passage in found] == [document]
    assert found[0].to_json() == {"id": "7", "title": "Port Blair", "text": document.text}


def test_texts_come_back_unchanged():
    odd = Document("é\n", 'a "title"\t', "lone \ud800 surrogate,\x00 NUL,\r\n lines\u2028 and 𝄞 fox")
    (found,) = search(Listed([odd]), "fox")
    assert found[0].document == odd


@pytest.mark.parametrize("loops", LOOPS)
def test_ties_go_by_document_id_also_where_the_cut_falls_into_one(loops):
    source = Listed([Document(name, "", "red fox") for name in ("b", "é", "a\x00", "a", "ab", "B", "𝄞", "\ufffd")])
    opened = index(source, loops)
    by_id = sorted(document.id for document in source.items)
    assert by_id == ["B", "a", "a\x00", "ab", "b", "é", "\ufffd", "𝄞"]
    for top_k in range(1, 10):
        assert [name for name, _ in best(opened, "fox", top_k)] == by_id[:top_k]


def test_long_ids_with_one_beginning_are_told_apart():
    names = [f"{'https://example.org/' * 10}{number}" for number in (3, 1, 2)]
    assert [name for name, _ in best(index(Listed([Document(n, "", "fox") for n in names])), "fox")] == sorted(names)


@pytest.mark.parametrize("query", ["", " ", "the of and", "zyzzyva", "\x00", "\ud800\udfff", "?!", "x", "☃" * 1000])
def test_a_query_without_a_known_word_finds_nothing(query):
    assert search(listed("a red fox", "the of"), query) == [[]]


def test_odd_characters_do_not_hide_the_words_beside_them():
    (found,) = search(listed("a red fox", "rain"), "\ud800fox\x00\udfff")
    assert ids(found) == ["d0"]


def test_a_megabyte_of_query_is_answered_by_its_first_thousand_known_words():
    opened = index(listed("a red fox", "cold rain", "fox"))
    begins, ends = "zyzzyva fox " * 1000, "rain " * 200_000
    assert best(opened, begins + ends) == best(opened, "fox " * 1000)


def test_more_asked_for_than_there_is_gives_what_there_is():
    (found,) = search(listed("fox", "red fox", "rain"), "fox", top_k=100)
    assert ids(found) == ["d0", "d1"]


def test_searches_that_arrive_together_each_get_their_own_answer():
    source = listed(*(f"word{number} fox" for number in range(300)))
    found = search(source, *(f"word{number}" for number in range(300)), "fox", "fox")
    assert [ids(one) for one in found[:300]] == [[f"d{number}"] for number in range(300)]
    assert found[300] == found[301] and len(found[300]) == 10


def test_a_search_that_is_given_up_does_not_take_the_others_along():
    async def one_given_up():
        corpus = open_corpus(listed("fox", "rain"), silent)
        tasks = [asyncio.create_task(corpus.search(query, 5)) for query in ("fox", "rain", "fox")]
        await asyncio.sleep(0)
        tasks[1].cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        await corpus.close()
        return found

    first, given_up, last = asyncio.run(one_given_up())
    assert ids(first) == ids(last) == ["d0"] and isinstance(given_up, asyncio.CancelledError)


def test_a_run_that_stops_leaves_no_search_hanging():
    """Stopping cancels every task of the loop, then closes the engines."""

    async def stopped():
        corpus = open_corpus(listed("fox"), silent)
        searches = [asyncio.create_task(corpus.search("fox", 5)) for _ in range(3)]
        await asyncio.sleep(0)
        corpus._at_work.cancel()
        found = await asyncio.wait_for(asyncio.gather(*searches, return_exceptions=True), 5)
        await asyncio.wait_for(corpus.close(), 5)
        return found

    assert all(isinstance(one, asyncio.CancelledError) for one in asyncio.run(stopped()))


def test_a_closed_corpus_answers_who_still_waits_and_then_nobody():
    async def closed():
        corpus = open_corpus(listed("fox"), silent)
        waiting = asyncio.create_task(corpus.search("fox", 5))
        await asyncio.sleep(0)
        await corpus.close()
        assert ids(await waiting) == ["d0"]
        await corpus.search("fox", 5)

    with pytest.raises(StepError, match="listed is closed"):
        asyncio.run(closed())


def test_texts_that_are_gone_are_an_error_of_the_step_never_an_empty_answer():
    async def broken():
        corpus = open_corpus(listed("fox"), silent)
        corpus.index.close()
        try:
            await corpus.search("fox", 5)
        finally:
            corpus.index.close = lambda: None
            await corpus.close()

    with pytest.raises(StepError, match="corpus listed cannot be searched"):
        asyncio.run(broken())


@pytest.mark.parametrize("library", ["bm25s.stopwords", "Stemmer"])
def test_a_missing_library_is_named_with_the_command_that_installs_it(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(HbenchError, match=r"pip install 'hbench\[retrieval\]'"):
        open_corpus(listed("fox"), silent)


def test_without_numba_numpy_searches(monkeypatch):
    with_numba = search(listed("red fox", "fox", "rain"), "red fox")
    monkeypatch.setattr("hbench.engines.bm25_loops.find_spec", lambda name: None)
    assert search(listed("red fox", "fox", "rain"), "red fox") == with_numba
