"""Scores are bm25s's own, to the last bit; the order is theirs with ties by id; pruning never loses a hit."""

import gzip
import json
import math
import os
import re
import tempfile
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.core.corpus import Document
from hbench.engines.bm25_folder import index_folder
from hbench.engines.bm25_index import Index
from hbench.engines.bm25_invert import DOCUMENTS, STARTS, TERMS, VALUES
from hbench.engines.bm25_words import QueryWords
from tests.engines.corpora import LOOPS, Listed, best, index, listed, silent
from tests.where import data

bm25s = pytest.importorskip("bm25s")
Stemmer = pytest.importorskip("Stemmer")

# Few words, so that ties, repeats and frequent words come up; some with one stem, some stopwords, one that nobody says.
WORDS = ["fox", "foxes", "red", "running", "runs", "the", "of", "rain", "Rain", "a", "Ünal", "x1", "snow", "ice"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
CORPUS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=25)
IDS = st.permutations(range(25))
QUERY = st.lists(st.sampled_from([*WORDS, "nobody"]), max_size=10).map(" ".join)


class Plain:
    """bm25s itself over the same text."""

    def __init__(self, source):
        self.stemmer, self.ids = Stemmer.Stemmer("english"), [d.id for d in source.items]
        self.engine = bm25s.BM25()
        self.engine.index(self.tokens([f"{d.title}\n{d.text}" for d in source.items]), show_progress=False)

    def tokens(self, texts, **more):
        return bm25s.tokenize(texts, stemmer=self.stemmer, show_progress=False, **more)

    def scores(self, query) -> dict[str, float]:
        (tokens,) = self.tokens([query], return_ids=False)
        known = self.engine.get_tokens_ids(tokens)
        return dict(zip(self.ids, self.engine.get_scores_from_ids(known).tolist(), strict=True)) if known else {}

    def best(self, query, top_k):
        hits = [(name, score) for name, score in self.scores(query).items() if score > 0]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:top_k]


def by_hand(source, query) -> dict[str, float]:
    """BM25 as the papers have it (Lucene's form, k1 1.5, b 0.75), document by document."""
    stem, stopwords = Stemmer.Stemmer("english").stemWord, set(bm25s.stopwords.STOPWORDS_EN)

    def terms(text):
        return [stem(word) for word in re.findall(r"\b\w\w+\b", text.lower()) if word not in stopwords]

    counts = {d.id: Counter(terms(f"{d.title} {d.text}")) for d in source.items}
    mean = sum(sum(c.values()) for c in counts.values()) / len(counts)
    scores = dict.fromkeys(counts, 0.0)
    for term in terms(query):
        holding = sum(term in c for c in counts.values())
        idf = math.log(1 + (len(counts) - holding + 0.5) / (holding + 0.5))
        for name, c in counts.items():
            if c[term]:
                scores[name] += idf * c[term] / (c[term] + 1.5 * (0.25 + 0.75 * sum(c.values()) / mean))
    return scores


@settings(max_examples=60, deadline=None)
@given(CORPUS, IDS, st.lists(QUERY, min_size=1, max_size=5), st.integers(1, 30))
@pytest.mark.slow
def test_hits_and_scores_are_those_of_bm25s_and_of_the_formula(texts, numbers, queries, top_k):
    source = Listed([Document(f"d{numbers[n]}", title, text) for n, (title, text) in enumerate(texts)])
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, HBENCH_CACHE=folder):
        opened = [index(source, loops) for loops in LOOPS]
    plain = Plain(source) if opened[0].terms else None
    for query in queries:
        expected = plain.best(query, top_k) if plain else []
        formula = by_hand(source, query)
        for one in opened:
            assert best(one, query, top_k) == expected
        assert [formula[name] for name, _ in expected] == pytest.approx([score for _, score in expected], rel=1e-5)
    for one in opened:
        one.close()


def test_the_arrays_are_those_that_bm25s_makes(tmp_path, monkeypatch):
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path))
    random = np.random.default_rng(3)
    source = listed(*(" ".join(f"word{n}" for n in random.zipf(1.3, size=40) % 500) for _ in range(400)))
    folder, plain = index_folder(source, silent), Plain(source)
    ours = {name: np.load(folder / name) for name in (VALUES, DOCUMENTS, STARTS)}
    for term, number in json.loads((folder / TERMS).read_text()).items():
        start, end = ours[STARTS][number : number + 2]
        theirs = slice(*plain.engine.scores["indptr"][plain.engine.vocab_dict[term] :][:2])
        assert (ours[DOCUMENTS][start:end] == plain.engine.scores["indices"][theirs]).all()
        assert (ours[VALUES][start:end] == plain.engine.scores["data"][theirs]).all()


def test_bm25s_opens_the_index_itself(tmp_path, monkeypatch):
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path))
    source = listed("a red fox", "rain", "fox")
    theirs = bm25s.BM25.load(index_folder(source, silent), mmap=True)
    assert theirs.get_scores(["fox"]).tolist() == list(Plain(source).scores("fox").values())


@pytest.mark.parametrize("loops", LOOPS)
@pytest.mark.parametrize("top_k", [1, 3, 10, 100])
@pytest.mark.slow
def test_leaving_postings_out_loses_no_hit(tmp_path, monkeypatch, loops, top_k):
    """Long queries of rare and of very frequent words over 3,000 documents, where most columns are never added up."""
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path))
    random = np.random.default_rng(7)
    texts = random.zipf(1.2, size=(3000, 30)) % 5000
    source = listed(*(" ".join(f"word{n}" for n in text) for text in texts))
    opened, plain = index(source, loops), Plain(source)
    for _ in range(40):
        query = " ".join(f"word{n}" for n in random.zipf(1.2, size=random.integers(1, 25)) % 5000)
        assert best(opened, query, top_k) == plain.best(query, top_k)


@pytest.mark.parametrize("name", ["hotpotqa", "musique", "2wiki"])
@pytest.mark.slow
def test_real_questions_find_what_bm25s_finds(tmp_path, monkeypatch, name):
    """Recall of gold titles among 10, on the real slices: the same passages, so the same recall."""
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path))
    rows = rows_of(data() / "qa" / f"{name}_corpus.jsonl.gz")
    source = Listed([Document(f"{number:05}", row["title"], row["text"]) for number, row in enumerate(rows)])
    folder, plain = index_folder(source, silent), Plain(source)
    opened = [Index(folder, loops()) for loops in LOOPS.values()]
    titles = {document.id: document.title for document in source.items}
    ours, theirs = [], []
    for row in rows_of(data() / "qa" / f"{name}.jsonl.gz")[:100]:
        question, gold = row["question"], set(row["supporting_titles"])
        found = [best(one, question) for one in opened]
        assert found[0] == found[1] == plain.best(question, 10)
        ours.append(len(gold & {titles[i] for i, _ in found[0]}) / len(gold))
        (tokens,), _ = plain.engine.retrieve(plain.tokens([question]), k=10, show_progress=False)
        theirs.append(len(gold & {titles[source.items[n].id] for n in tokens}) / len(gold))
    assert np.mean(ours) == pytest.approx(np.mean(theirs), abs=0.01) and np.mean(ours) > 0.4


def rows_of(file):
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_query_words_are_cut_as_document_words_are():
    terms = {"fox": 0, "run": 1, "naïv": 2}
    assert QueryWords(terms).numbers("The FOXES were running; naïve fox! a of unknown") == [0, 1, 2, 0]
