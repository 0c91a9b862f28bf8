"""The page with every exhibit: whole in itself, and nothing on it that a model wrote can run."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hbench.exhibits.behind import Behind
from hbench.exhibits.block import ExhibitBlock
from hbench.exhibits.cells import Cell
from hbench.exhibits.exhibit import Exhibit
from hbench.exhibits.index import write_index
from hbench.exhibits.render import write

EVIL = "</script><script>alert(1)</script>"


def exhibit(name: str = "table9", source: str = "Paper, Table 9") -> Exhibit:
    fields = {"title": f"T {EVIL}", "source": source, "from": ["x"], "unfilled": {"theirs": "another agent"}}
    figure = {"x": "arm", "y": "score", "series": None}
    paper = {"theirs": {"score": 0.25}}
    block = ExhibitBlock.model_validate({**fields, "columns": {"score": "%.2f"}, "figure": figure, "paper": paper})
    cells = (
        Cell("rl", "score", 0.12345678, 3, 0.1, 0.2, 0.14, 0.05, True),
        Cell(EVIL, "score", None, 0, None, None),
        Cell("theirs", "score", None, 0, None, None, 0.25, 0.05),
    )
    behind = (Behind("x", "arm = 'rl'"), Behind("x"), Behind(""))
    return Exhibit(name, block, (("rl",), (EVIL,), ("theirs",)), cells, ("Run `hbench run x`.",), behind)


@pytest.fixture
def page(tmp_path: Path) -> str:
    made = [exhibit(), exhibit("table10", "Paper, Table 10"), exhibit("other", "")]
    for each in made:
        write(each, tmp_path)
    return write_index(made, tmp_path).read_text(encoding="utf-8")


class Seen(HTMLParser):
    """What a browser would fetch, and how many scripts it would run."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.scripts = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        named = dict(attrs)
        self.fetched += [named[name] for name in ("src",) if name in named]
        self.fetched += [named["href"]] if tag == "link" else []
        self.scripts += tag == "script" and "type" not in named


def test_the_page_needs_nothing_else(page):
    seen = Seen(page)
    assert seen.fetched and all(address.startswith("data:image/svg+xml;base64,") for address in seen.fetched)
    assert seen.scripts == 1, "the page's own"
    assert "http" not in re.sub(r"http-equiv", "", page)


def test_texts_are_texts_also_in_what_the_script_reads(page):
    assert EVIL not in page
    assert "&lt;/script&gt;" in page


def data(page: str) -> list[dict]:
    return [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page)]


def test_a_cell_opens_to_its_numbers_its_rows_or_the_spec_that_fills_it(page):
    found = data(page)[0]
    assert found["cells"] == [[0.123457, 3, 0.1, 0.2, 0.14, 0.05], [None, 0], [None, 0, None, None, 0.25, 0.05]]
    assert found["rows"] == [["x", "arm = 'rl'", "", ""], ["x", "", "", ""], ["", "", "", "another agent"]]
    assert found["columns"] == [["score", "mean", "select arm, family, seed, score from units", 0]]


def test_papers_stand_apart_and_their_tables_in_order(page):
    assert re.findall(r'<details class="exhibit" id="(\w+)"', page) == ["other", "table9", "table10"]
    assert re.findall(r"<h2>(.*?)</h2>", page)[:2] == ["Own", "Paper"]


def test_what_is_typed_stands_out_and_the_paper_is_compared(page):
    assert "Run <code>hbench run x</code>." in page
    assert "1 agree" in page and "paper 0.14, agrees" in page
