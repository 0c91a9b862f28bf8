"""The page in a real browser: every kind of page opens, fits, stays silent, can be used by keys, and is there at once."""

import json
import os
import re
from itertools import product
from pathlib import Path

import pytest

from hbench.core.digest import text_digest
from hbench.store.artifacts import Store
from hbench.store.database import fold
from tests.store import made
from tests.store.made import key
from tests.view.big import make_big
from tests.view.chromium import SCHEMES, WIDTHS, started, window
from tests.view.served import served
from tests.view.told import JOB, MADE, OTHER, PARENT, REASONING, REPORT

pytestmark = pytest.mark.slow

PAGES = {
    "runs": ("/runs", "Runs"),
    "run": (f"/runs/{made.RUN}", "told"),
    "steps": (f"/runs/{made.RUN}/steps", "Steps of"),
    "step": (f"/steps/{key('report')}", "report"),
    "rounds": (f"/rounds/{made.SPEC}", "on"),
    "candidates": ("/candidates", "Candidates"),
    "candidate": (f"/candidates/{key('propose')}/0", "andidate"),
    "failed edit": (f"/candidates/{key('propose_1')}/0", "andidate"),
    "harness": (f"/harnesses/{MADE.id}", "arness"),
    "diff": (f"/diffs/{PARENT.id}/{MADE.id}", "From"),
    "rollouts": ("/rollouts", "Rollouts"),
    "rollout": (f"/rollouts/{key('score')}/0/{OTHER}/0", "ollout"),
    "calls": (f"/rollouts/{key('act')}/0/{JOB}/0", "ollout"),
    "trajectory": (f"/trajectories/{key('act')}/{JOB}/0", "rajectory"),
    "text": (f"/texts/{text_digest(REPORT)}", "Text"),
    "exhibits": ("/exhibits", "Exhibits"),
    "exhibit": ("/exhibits/qa_rounds", "Exact match"),
    "sql": ("/sql?q=select+*+from+rollouts", "SQL"),
    "nothing": ("/nowhere", "Not here"),
}
# Milliseconds from the click to the first letters.
FIRST_PAINT = """() => new Promise(done => new PerformanceObserver(seen => {
  const paint = seen.getEntriesByName('first-contentful-paint')[0];
  if (paint) done(paint.startTime);
}).observe({type: 'paint', buffered: true}))"""


@pytest.fixture(scope="module")
def browser():
    with started() as browser:
        yield browser


LOOKS = list(product(SCHEMES, WIDTHS))
ALSO = [("light", 390), ("dark", 1280)]  # make test-view: what both colours and both widths show is shown by the others


@pytest.fixture(params=[pytest.param(at, id=f"{at[0]}-{at[1]}", marks=[pytest.mark.long] * (at in ALSO)) for at in LOOKS])
def look(request):
    return request.param


def test_every_kind_of_page_opens_fits_and_is_silent_in_light_and_dark_wide_and_narrow(browser, told_page, look):
    with window(browser, *look) as opened:
        for name, (path, title) in PAGES.items():
            opened.page.goto(told_page.address + path)
            opened.page.wait_for_selector("main:not(:has-text('It is being made'))")
            assert title in opened.page.inner_text("h1"), name
            assert opened.runs_over <= 0, f"{name} is {opened.runs_over} pixels too wide"
            assert len(opened.picture(f"{name}-{look[0]}-{look[1]}")) > 5000
            assert opened.page.title() != "owned"
            expected = ["404"] if name == "nothing" else []
            assert [trouble for trouble in opened.troubles if not any(code in trouble for code in expected)] == [], name
            opened.troubles.clear()
        dark = opened.value("getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).slice(0, 3).every(c => c < 60)")
        assert dark is (look[0] == "dark")
        assert all(address.startswith((told_page.address, "data:")) for address in opened.asked)


def test_from_a_run_one_gets_to_a_round_a_candidates_diff_and_its_rollouts_by_clicking(browser, toy_page):
    with window(browser) as opened:
        page = opened.page
        page.goto(toy_page.address)
        page.click("main tbody a >> nth=0")
        page.click("main a:has-text('sequential') >> nth=0")
        assert "Round 0" in page.inner_text("main") and page.locator("svg .dot").count() >= 3
        page.click("main tbody a:has-text('0') >> nth=0")
        assert "/candidates/" in page.url and "What the proposer said" in page.content()
        page.goto(toy_page.address + "/rollouts")
        page.click("main tbody a >> nth=0")
        assert re.search(r"/rollouts/[0-9a-f]{64}/0/", page.url) and opened.troubles == []


def test_a_candidates_page_shows_diff_report_reward_and_what_was_lost(browser, told_page):
    with window(browser) as opened:
        page = opened.page
        page.goto(told_page.address + f"/candidates/{key('propose')}/0")
        assert "temperature=1" in page.inner_text("tr.added >> nth=-1") and page.locator("tr.removed").count() == 1
        assert "0 of 2 questions right." in page.inner_text("main") and page.inner_text(".terms tr.sum td >> nth=-1") == "0.600"
        page.click("main a:has-text('1.00') >> nth=0")  # what the parent had right
        assert "/rollouts/" in page.url and opened.troubles == []


def test_a_trajectory_is_read_turn_by_turn_with_what_is_hidden_from_the_loss(browser, told_page):
    with window(browser) as opened:
        page = opened.page
        page.goto(told_page.address + f"/trajectories/{key('act')}/{JOB}/0?hide=reasoning")
        page.click("nav.turns a >> nth=0")
        turn = page.locator("#turn-0")
        assert page.url.endswith("#turn-0") and "rm names.txt" in turn.locator(".draft").inner_text()
        assert turn.locator(".masked").inner_text() == REASONING and turn.locator(".masked").is_visible()
        grounds = opened.value("['.masked', '.accepted'].map(s => getComputedStyle(document.querySelector('#turn-0 ' + s)).backgroundColor)")
        assert grounds[0] != grounds[1]
        assert "zoe\nadam" in turn.inner_text() and "it deletes what it should sort" in turn.inner_text()
        page.click(".legend a:has-text('none')")
        assert page.locator("#turn-0 .masked").count() == 0 and opened.troubles == []


def test_lists_are_walked_by_keys_and_the_focus_is_seen(browser, toy_page):
    with window(browser) as opened:
        page = opened.page
        page.goto(toy_page.address + "/rollouts")
        page.keyboard.press("j")
        first = opened.value("document.activeElement.href")
        assert opened.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.press("j")
        second = opened.value("document.activeElement.href")
        page.keyboard.press("k")
        assert "/rollouts/" in first and second != first == opened.value("document.activeElement.href")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert page.url == first
        with page.expect_navigation():
            page.keyboard.press("u")
        for keys, path in (("gs", "/sql"), ("gr", "/runs"), ("ge", "/exhibits")):
            with page.expect_navigation():
                page.keyboard.press(keys[0])
                page.keyboard.press(keys[1])
            assert page.url.endswith(path)
        page.keyboard.press("?")
        assert page.is_visible("#keys") and page.evaluate("document.querySelector('#keys').open")
        page.keyboard.press("Escape")
        with page.expect_navigation():
            page.keyboard.press("/")
        assert page.url.endswith("/sql") and opened.troubles == []


def test_a_query_is_written_and_run_by_keys(browser, toy_page):
    with window(browser) as opened:
        page = opened.page
        page.goto(toy_page.address + "/sql")
        page.keyboard.press("/")
        page.keyboard.type("select run_id, 6 * 7 as answer from runs")
        with page.expect_navigation():
            page.keyboard.press("Control+Enter")
        assert page.inner_text(".answer td.n") == "42" and "6 * 7" in page.input_value("textarea")
        page.fill("textarea", "drop table runs")
        page.click("button.main")
        page.wait_for_selector(".trouble")
        assert "drop is refused" in page.inner_text(".trouble") and opened.troubles == []


def test_a_query_is_saved_and_forgotten_by_its_forms(browser, toy_page, toy):
    with window(browser) as opened:
        page = opened.page
        page.goto(toy_page.address + "/sql?q=select+1+as+mine")
        page.fill("input[name=name]", "mine")
        page.click("button:has-text('Save')")
        page.wait_for_selector("nav.saved a:has-text('mine')")
        assert (toy / "queries/mine.sql").exists()
        page.click("[aria-label='Forget mine']")
        page.wait_for_selector("nav.saved a:has-text('mine')", state="detached")
        assert not (toy / "queries/mine.sql").exists() and opened.troubles == []


def test_a_run_that_goes_on_is_followed_without_loading_the_page_anew(browser, tmp_path):
    store = Store(tmp_path)
    made.put(store, "a", made.rollouts([1.0]))
    store.put_plan(made.SPEC, made.plan({"a": [made.label("held_out")]}))
    begun = {"run_id": made.RUN, "spec_digest": made.SPEC, "started_at": "2026-01-01T00:00:00"}
    with store.open_run(made.RUN) as journal, window(browser) as opened:
        journal.append({"runs": [begun]})
        fold(tmp_path, wait_s=30.0)
        with served(tmp_path) as page:
            opened.page.goto(f"{page.address}/runs/{made.RUN}")
            opened.value("window.same = true")
            assert "going on" in opened.page.inner_text("h1")
            row = {"run_id": made.RUN, "step_id": "a", "step_key": key("a"), "status": "ran", "seconds": 1.0}
            journal.append({"run_steps": [row], "runs": [begun | {"ended_at": "2026-01-02T00:00:00", "outcome": "finished"}]})
            opened.page.wait_for_selector("main:has-text('1 of 1 steps')")
            assert "finished" in opened.page.inner_text("h1")
            assert opened.value("window.same") and opened.troubles == []


def test_the_first_paint_with_100_000_rollouts_takes_less_than_a_second(browser, tmp_path):
    folder = make_big(tmp_path / "big")
    from tests.view.big import RUN

    with served(folder) as page, window(browser) as opened:
        middle = json.dumps(["8" * 64, 0, "8" * 16, 0])
        for path in ("/runs", f"/runs/{RUN}", f"/runs/{RUN}/steps", "/rollouts", f"/rollouts?after={middle}", "/candidates"):
            took = []
            for _ in range(5):
                opened.page.goto(page.address + path)
                took.append(opened.value(FIRST_PAINT))
            busy = max(1.0, os.getloadavg()[0] / os.cpu_count())  # other work on this machine takes its share of the second
            print(f"{path}: {min(took):.0f} ms")
            assert min(took) < 1000 * busy, f"{path}: {min(took):.0f} ms"


def test_letters_stand_out_from_their_ground_in_light_and_dark():
    css = Path("hbench/view/static/page.css")
    text = (css if css.exists() else Path(__file__).parents[2] / css).read_text()
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in text.split("@media (prefers-color-scheme: dark)")[:2])
    for colours in (light, dark):
        for letters in ("ink", "quiet", "link", "good", "bad", "warn", "busy"):
            for ground in ("paper", "raised"):
                assert contrast(colours[letters], colours[ground]) >= 4.5, (letters, ground)
        for ground in ("added", "removed", "marked", "masked"):
            assert contrast(colours["ink"], colours[ground]) >= 7, ground


def contrast(one: str, other: str) -> float:
    """As WCAG 2 counts it: 1 to 21."""

    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
