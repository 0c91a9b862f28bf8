"""results/exhibits/index.html in a real browser: a file that is opened by itself."""

from pathlib import Path

import pytest

from tests.view.chromium import SCHEMES, WIDTHS, started, window

pytestmark = pytest.mark.slow
FILE = Path(__file__).parents[2] / "results/exhibits/index.html"
ADDRESS = FILE.as_uri()
PANEL = "dialog[open]"


@pytest.fixture(scope="module")
def browser():
    with started() as browser:
        yield browser


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_it_opens_fits_and_asks_for_nothing_else(browser, scheme, width):
    with window(browser, scheme, width) as opened:
        opened.page.goto(ADDRESS)
        assert opened.page.inner_text("h1") == "Exhibits" and opened.runs_over <= 0
        assert opened.value("document.images.length") and opened.value("[...document.images].every((i) => i.naturalWidth > 0)")
        opened.page.goto(f"{ADDRESS}#mini:4:1")
        opened.page.wait_for_selector(PANEL)
        assert opened.page.screenshot(path=None)
        assert opened.troubles == [] and all(address.startswith(("file:", "data:")) for address in opened.asked)


def test_a_cell_opens_to_its_numbers_and_to_the_query_behind_it(browser):
    with window(browser) as opened:
        opened.page.goto(ADDRESS)
        opened.page.click("#mini tbody tr:nth-child(5) td:nth-of-type(2) button")
        said = opened.page.inner_text(PANEL)
        assert "mini-unseen / base: minus sft" in said and "95 % interval" in said and "made as" in said
        assert 'hbench sql --exhibit mini "select arm, family, seed, score from units where' in said
        assert "arm in ('base', 'sft')" in said
        assert opened.value("location.hash") == "#mini:4:1"
        opened.page.keyboard.press("ArrowLeft")
        assert "mini-unseen / base: held-out" in opened.page.inner_text(PANEL)
        opened.page.keyboard.press("Escape")
        assert opened.page.query_selector(PANEL) is None
        assert opened.value("document.activeElement.tagName") == "BUTTON", "the focus stays where it was"


def test_a_missing_cell_says_what_fills_it_or_why_nothing_does(browser):
    with window(browser) as opened:
        opened.page.goto(f"{ADDRESS}#table9:2:0")
        opened.page.wait_for_selector(PANEL)
        assert "Filled by: hbench run training/rg_paper" in opened.page.inner_text(PANEL)
        opened.page.click("#distil_table2 tr:has(th:text-is('claude_code')) button >> nth=0")
        said = opened.page.inner_text(PANEL)
        assert "No spec here fills it: another agent's run" in said and "31 ± 5" in said
