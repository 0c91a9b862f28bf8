"""Runs, their steps and rounds: what was done and how far it is; also while it is being done."""

import os
import re
import threading
import time
from pathlib import Path

import pytest

from hbench.store.artifacts import Store
from hbench.store.database import fold
from hbench.store.query import query
from tests.store import made
from tests.view.served import served
from tests.world import make_world


def folded(store: Store) -> Path:
    """Its folder, with the database up to date."""
    assert fold(store.folder, wait_s=30.0).how == "folded"
    return store.folder


def links(text: str, beginning: str) -> list[str]:
    found = re.findall(f'href="({re.escape(beginning)}[^"]*)"', text)
    return [link.replace("&amp;", "&") for link in dict.fromkeys(found)]


@pytest.fixture(scope="module")
def run(toy_page):
    """The address of the one run."""
    return links(toy_page.get("/runs").text, "/runs/")[0]


def test_a_folder_in_which_nothing_was_run_says_how_to_begin(tmp_path):
    with served(tmp_path / "nothing") as page:
        assert "<code>hbench run SPEC</code> fills this page" in page.get("/runs").text
        for path in ("/runs/x", "/rollouts", "/sql?q=select+1", "/steps/x", "/exhibits/qa_rounds"):
            answer = page.get(path)
            assert answer.status < 500 and "Traceback" not in answer.text


def test_runs_are_listed_with_their_spec_state_and_steps(toy_page):
    text = toy_page.get("/runs").text
    assert "toy" in text and "finished" in text and re.search(r">(\d+) / \1<", text)


def test_runs_are_looked_for_by_their_spec(toy_page):
    assert links(toy_page.get("/runs?spec=TO").text, "/runs/") and not links(toy_page.get("/runs?spec=%25").text, "/runs/")


def test_a_run_shows_each_arm_with_its_scores_and_the_way_to_its_rounds(toy_page, run):
    text = toy_page.get(run).text
    assert all(f">{arm}<" in text for arm in ("seed", "sequential", "independent"))
    assert any("arm=sequential" in link for link in links(text, "/rounds/"))


def test_its_steps_are_found_by_what_they_are_for(toy_page, run):
    text = toy_page.get(f"{run}/steps?arm=sequential&purpose=propose").text
    assert text.count("round ") >= 3 and "round 1, candidate 0" in text and "independent</td>" not in text
    assert "No step is like that" in toy_page.get(f"{run}/steps?status=failed").text


def test_a_step_shows_what_it_read_wrote_and_serves(toy_page, run):
    step = links(toy_page.get(f"{run}/steps?purpose=candidate_scoring&status=ran").text, "/steps/")[0]
    text = toy_page.get(step).text
    assert "evaluate" in text and "4 rollouts" in text and links(text, "/rollouts?step=") and links(text, "/rounds/")
    assert len(links(text, "/steps/")) >= 2  # the harness and the questions that it reads


def test_a_report_is_shown_with_its_step(toy_page, run):
    step = links(toy_page.get(f"{run}/steps?purpose=report").text, "/steps/")[0]
    assert "What a proposer read of harness" in toy_page.get(step).text


def test_rounds_are_a_curve_a_tree_and_a_table(toy_page, run):
    address = next(link for link in links(toy_page.get(run).text, "/rounds/") if "arm=sequential" in link)
    text = toy_page.get(address).text
    assert text.count("<polyline") >= 2 and 'class="dot parent"' in text
    assert [f"Round {n}" in text for n in range(4)] == [True, True, True, False]
    assert links(text, "/candidates/") and links(text, "/harnesses/")


def test_rounds_open_from_a_spec_alone(toy_page, run):
    digest = links(toy_page.get(run).text, "/rounds/")[0].split("?")[0]
    assert toy_page.get(digest).status == 200
    assert toy_page.get(digest + "?arm=nobody").status == 404
    assert toy_page.get(digest + "?seed=one").status == 400


def test_what_is_not_there_is_told_with_its_name(toy_page):
    for path in ("/runs/nobody", "/steps/nobody", "/rounds/nobody", "/nowhere"):
        answer = toy_page.get(path)
        assert answer.status == 404 and ("nobody" in answer.text or "nowhere" in answer.text)


@pytest.mark.attack
def test_names_with_markup_are_shown_as_text(tmp_path):
    store = Store(tmp_path)
    made.put(store, "a", made.rollouts([1.0]))
    rows = made.plan({"a": [made.label("held_out")]}, name="<img src=x onerror=alert(1)>\x1b[31m")
    store.put_plan(made.SPEC, rows)
    made.put_run(store, ["a"])
    with served(folded(store)) as page:
        text = page.get("/runs").text + page.get(f"/runs/{made.RUN}").text
    assert "<img" not in text and "&lt;img src=x onerror=alert(1)&gt;⟨ESC⟩[31m" in text


def test_a_failed_step_is_shown_with_its_error(tmp_path):
    store = Store(tmp_path)
    store.put_plan(made.SPEC, made.plan({"a": [made.label("held_out")]}))
    with store.open_run(made.RUN) as journal:
        run = {"run_id": made.RUN, "spec_digest": made.SPEC, "started_at": "2026-01-01T00:00:00", "versions": {}, "machine": {}}
        journal.append({"runs": [{**run, "outcome": "failed", "ended_at": "2026-01-01T00:01:00"}]})
        step = {"step_id": "a", "step_key": made.key("a"), "status": "failed", "seconds": 1.0}
        journal.append({"run_steps": [{"run_id": made.RUN, **step, "error": "the service closed the connection <b>"}]})
    with served(folded(store)) as page:
        text = page.get(f"/runs/{made.RUN}").text
        assert "the service closed the connection &lt;b&gt;" in text and "Failed steps" in text
        assert "the service closed" in page.get(f"/steps/{made.key('a')}").text


def test_a_run_without_an_end_in_which_nothing_moves_is_said_to_be_stopped(tmp_path):
    store = Store(tmp_path)
    store.put_plan(made.SPEC, made.plan({"a": [made.label("held_out")]}))
    with store.open_run(made.RUN) as journal:
        journal.append({"runs": [{"run_id": made.RUN, "spec_digest": made.SPEC, "started_at": "2026-01-01T00:00:00"}]})
    with served(folded(store)) as page:
        assert "going on" in page.get("/runs").text
        os.utime(tmp_path / f"runs/{made.RUN}.jsonl", (0, 0))
        assert "stopped" in page.get("/runs").text and "it was killed" in page.get(f"/runs/{made.RUN}").text


@pytest.mark.slow
def test_a_page_shows_a_run_that_goes_on_and_never_holds_it_up(tmp_path):
    """Pages are asked all the time, and a query holds the database for seconds, while a run writes into the folder."""
    world = make_world(tmp_path, latency_ms=250)
    results, seen, done = tmp_path / "results", set(), threading.Event()
    with served(results) as page:

        def hold():
            while not done.is_set():
                page.sql("select count(*) from range(100000) a, range(20000) b, runs")

        holding = threading.Thread(target=hold, daemon=True)
        running = world.start("run", "toy")
        holding.start()
        began = time.monotonic()
        while running.poll() is None and time.monotonic() - began < 300:
            text = page.get("/runs").text
            for run in links(text, "/runs/"):
                seen |= set(re.findall(r"Under way|(?<=pieces) so far|going on", page.get(run).text))
        told = running.communicate()[0].decode()
        done.set()
        holding.join(120)
        assert running.returncode == 0 and "finished in" in told, told
        assert {"going on", "Under way"} <= seen
        fold(results, wait_s=30.0)
        time.sleep(2.1)
        assert "finished" in page.get("/runs").text
    assert query(results, "select count(*) from rollouts").rows[0][0] > 30
