"""The committed distillation, from its rollouts to its exhibit, without SQL and without anything of hbench."""

import csv
from collections import Counter, defaultdict

import pytest

from tests.truth import plain
from tests.where import REPO

pytestmark = pytest.mark.truth
WANTED = {name: plain.READ[name] for name in ("runs", "run_steps", "plan_labels", "rollouts")}
WANTED |= {"turns": ("step_key", "question_id")}
COLUMNS = ("score", "completed", "turns", "difference")


@pytest.fixture(scope="module")
def measured():
    """(spec, "family / arm") -> column -> question -> value, of held-out questions."""
    tables = plain.of_bundle(REPO / "results/published/mini_distil", WANTED)
    specs = {row["run_id"]: row["spec_digest"] for row in tables["runs"]}
    keys = {(specs[row["run_id"]], row["step_id"]): row["step_key"] for row in tables["run_steps"]}
    rollouts, turns = defaultdict(list), Counter((row["step_key"], row["question_id"]) for row in tables["turns"])
    for row in tables["rollouts"]:
        rollouts[row["step_key"]].append(row)
    found = {}
    for label in (row for row in tables["plan_labels"] if row["purpose"] == "held_out"):
        key = keys[label["spec_digest"], label["step_id"]]
        ran = {row["question_id"]: row for row in rollouts[key]}
        assert len(ran) == len(rollouts[key]), "one rollout a question"
        found[label["spec_digest"], f"{label['family']} / {label['arm']}"] = {
            "score": {question: row["score"] for question, row in ran.items()},
            "completed": {question: float(row["completed"]) for question, row in ran.items()},
            "turns": {question: float(turns[key, question]) for question in ran},
        }
    return found


def expected(measured, spec, row, column):
    if column != "difference":
        return plain.cell(list(measured[spec, row][column].values()))
    base = measured.get((spec, row.split(" / ")[0] + " / base"), {"score": {}})["score"]
    ours = {} if row.endswith("/ base") else measured[spec, row]["score"]
    return plain.cell([score - base[question] for question, score in ours.items() if question in base])


def test_the_printed_distillation_is_what_its_rollouts_say(measured, tried):
    with (REPO / "results/exhibits/mini_distil.csv").open() as file:
        printed = {(row["row"], row["column"]): row for row in csv.DictReader(file)}
    assert len({row for _, row in measured}) == len(measured) > 10
    for spec, row in measured:
        for column in COLUMNS:
            told, (value, n, low, high) = printed[row, column], expected(measured, spec, row, column)
            assert int(told["n"]) == n, (row, column)
            found = [float(told[name]) if told[name] else None for name in ("value", "low", "high")]
            assert found == [None if number is None else pytest.approx(number) for number in (value, low, high)], (row, column)
            tried(f"{row}, {column}")
