"""Exhibits in the page: listed, made when opened, with their figure and their files."""

import re
import time

import pytest

from tests.view.served import served
from tests.world import World

pytestmark = pytest.mark.slow


def opened(page, name: str) -> str:
    """The text of its page, once it has been made."""
    for _ in range(120):
        text = page.get(f"/exhibits/{name}").text
        if "It is being made" not in text:
            return text
        time.sleep(0.5)
    raise AssertionError(f"{name} was not made")


def test_every_exhibit_is_listed_with_its_title_and_source(toy_page):
    from hbench.exhibits.exhibit import names

    text = toy_page.get("/exhibits").text
    assert all(f'href="/exhibits/{name}"' in text for name in names())
    assert "Exact match by round of revision" in text and "cannot be read" not in text


def test_an_exhibit_whose_specs_were_not_run_says_so_and_shows_the_papers_values(toy_page):
    text = opened(toy_page, "qa_rounds")
    assert "paper" in text and "hbench run training/qa_paper" in text
    assert "select" in text and "The SQL behind it" in text


@pytest.mark.attack
@pytest.mark.control
def test_its_figure_and_files_are_served(toy_page):
    files = set(re.findall(r'href="(/exhibits/qa_rounds/[^"]+)"', opened(toy_page, "qa_rounds")))
    assert {file.rpartition(".")[2] for file in files} >= {"csv", "tex", "md", "svg"}
    for file in files:
        answer = toy_page.get(file)
        assert answer.status == 200 and answer.text
    figure = toy_page.get("/exhibits/qa_rounds/qa_rounds.svg")
    assert figure.headers["content-type"] == "image/svg+xml" and "<svg" in figure.text


@pytest.mark.parametrize("path", ["/exhibits/nobody", "/exhibits/../runs", "/exhibits/qa_rounds/other.svg", "/exhibits/%2e%2e"])
@pytest.mark.attack
def test_what_is_no_exhibit_and_none_of_its_files_is_not_there(toy_page, path):
    assert toy_page.get(path).status == 404


def test_where_nothing_was_run_an_exhibit_says_what_to_run(tmp_path):
    with served(tmp_path) as page:
        assert "hbench run training/qa_paper" in opened(page, "qa_rounds")


def test_one_that_cannot_be_made_says_why_where_it_was_to_appear(toy):
    """The page used to ask for it again and again, and to say all the while that it is being made."""
    World(toy.parent).hbench("export", "toy", "--name", "shown")
    with served(toy / "published" / "shown") as page:
        told = opened(page, "training_data")
    assert "holds no training/rg_paper" in told and "data-renew" not in told


def test_the_rows_behind_a_cell_are_one_click_away(toy_page):
    from urllib.parse import urlencode

    asked = urlencode({"q": "select count(*) as found from units", "exhibit": "qa_rounds"})
    text = toy_page.get(f"/sql?{asked}").text
    assert "<th>found</th>" in text and "is what the SQL of exhibit" in text
    refused = urlencode({"q": "select * from read_csv('/etc/passwd')", "exhibit": "qa_rounds"})
    assert "operations are disabled" in toy_page.get(f"/sql?{refused}").text
    assert "no exhibit" in toy_page.get("/sql?q=select+1&exhibit=nobody").text
