"""A real study of invented questions with the rule-based reader, from the command line to tables, plots and diffs."""

import csv
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.where import REPO

pytest.importorskip("bm25s")
pytestmark = pytest.mark.slow

SPEC = """
plan: adaptation
extends: [multihop, families/invented_hops]
name: study-${chain}
family: {paragraphs: 400}
solver: {kind: rules, name: rule_reader}
proposer: {kind: recorded, file: replies/mine.jsonl, prompt: proposer/python_block, sampling: {temperature: 1.0}}
splits: {feedback: 2, scoring: 4, evaluation: 8}
evaluate_all: true
sweep: {chain: [0, 1]}
arms:
  seed: {rounds: 0}
  passages: {rounds: 0, harness: harnesses/passages.py}
  base: {rounds: 2, proposals: 1}
  independent: {rounds: 1, proposals: 2, reports: 2}
"""
EXHIBITS = ("qa_rounds", "qa_runs", "qa_revisions", "qa_budget", "qa_equal_proposals", "qa_equal_tokens", "qa_corpora")


def hbench(folder: Path, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hbench", *words], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    (folder / "specs/replies").mkdir(parents=True)
    (folder / "specs/mine.yaml").write_text(SPEC)
    harnesses = [REPO / f"specs/harnesses/{name}.py" for name in ("passages", "third_hop")]
    replies = [f"Show more.\n```python\n{file.read_text()}\n```" for file in harnesses]
    (folder / "specs/replies/mine.jsonl").write_text(json.dumps({"reply": replies}) + "\n")
    hbench(folder, "run", "mine", "-q")
    for name in EXHIBITS:
        hbench(folder, "exhibit", name, "mine")
    return folder / "results/exhibits"


def cells(world: Path, name: str) -> dict[tuple[str, str], float]:
    rows = csv.DictReader((world / f"{name}.csv").open())
    return {(row["row"], row["column"]): float(row["value"]) for row in rows if row["value"]}


@pytest.mark.long
def test_passages_in_the_answers_prompt_are_found_by_source_and_by_trace_alike(world):
    found = cells(world, "qa_revisions")
    for arm, at in (("seed", 0), ("passages", 0), ("base", 2), ("independent", 1)):
        row = f"invented_hops / {arm} / {at}"
        for mark in ("passages_reach_answer", "third_search"):
            assert found[row, f"seen_{mark}"] == pytest.approx(found[row, mark]), (row, mark)
    assert found["invented_hops / seed / 0", "passages_reach_answer"] == 0
    assert found["invented_hops / base / 2", "passages_reach_answer"] == 1


def test_a_reference_harness_reads_more_than_the_seed(world):
    found = cells(world, "qa_runs")
    seed, reference = ((f"invented_hops / {arm}") for arm in ("seed", "passages"))
    assert found[reference, "final"] > found[seed, "final"]
    assert found[reference, "recall"] >= found[seed, "recall"] - 1e-9


def test_tables_name_the_rule_based_reader(world):
    assert "Models: solver rule_reader; proposer " in (world / "qa_runs.md").read_text()


def test_every_exhibit_has_its_files(world):
    made = {file.name for file in world.iterdir()}
    assert {f"{name}.{ending}" for name in EXHIBITS for ending in ("md", "csv", "tex")} <= made
    plots = {"qa_rounds", "qa_budget_round", "qa_budget_minutes", "qa_equal_proposals", "qa_equal_tokens"}
    assert {f"{name}.{ending}" for name in plots for ending in ("svg", "png")} <= made
    for file in world.glob("*.svg"):
        assert ElementTree.parse(file).getroot().tag.endswith("svg")
    assert {"qa_revisions_diffs.md", "qa_revisions_diffs.html"} <= made


def test_the_same_results_give_the_same_files(world):
    names = [f"qa_rounds.{ending}" for ending in ("md", "csv", "tex", "svg", "png")] + ["qa_revisions_diffs.html"]
    before = {name: (world / name).read_bytes() for name in names}
    for name in ("qa_rounds", "qa_revisions"):
        hbench(world.parent.parent, "exhibit", name, "mine")
    assert {name: (world / name).read_bytes() for name in names} == before
