"""Small published files of two-hop questions, in every layout, and a data folder of the test's own."""

import bz2
import gzip
import json
import os

import pytest

from hbench.parts.part import build

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


def many(count, **more):
    return [{**SLICE, "id": f"s{i}", "question": f"Question {i}?", **more} for i in range(count)]
