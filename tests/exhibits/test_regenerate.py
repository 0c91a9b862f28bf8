"""From a results folder to files: spec, store, fold, SQL, table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from hbench.core.output import Output
from hbench.exhibits.exhibit import Exhibit, regenerate
from hbench.exhibits.render import markdown
from hbench.spec import load
from hbench.store.artifacts import StepRecord, Store
from tests.exhibits.study import Point, Trial, Writer

SPEC = """
plan: adaptation
family: {kind: toy, name: copying}
sweep: {family.name: [copying, echoing]}
splits: {feedback: 4, scoring: same_as_feedback, evaluation: 4}
harness: harnesses/seed.py
solver: {weights: somebody/model, revision: abc}
proposer: {weights: somebody/model, revision: abc}
evaluate_all: true
arms:
  seed: {rounds: 0}
  independent: {rounds: 1, proposals: 2}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/mine.yaml").write_text(SPEC)
    return tmp_path / "results"


def study(specs: Sequence, score: float = 0.5) -> list[Point]:
    """Both arms on each spec: the first harness scores `score`, one proposal fails, the other is right."""
    made = []
    for spec in specs:
        family = spec.arms["seed"].family.name
        graded, right = {f"{family}/1": (score, 0.0)}, {f"{family}/1": (1.0, 1.0)}
        trials = (Trial("search_not_found"), Trial("applied", right, right))
        made.append(Point("seed", family, 0, graded, graded, spec=spec.digest))
        made.append(Point("independent", family, 0, graded, graded, (trials,), (1,), spec=spec.digest))
    return made


def put(folder: Path, points: Sequence[Point], limited: int | None = None) -> None:
    """The points as a results folder holds them: plans, artifacts, and one finished run a spec."""
    writer, store = Writer(), Store(folder)
    writer.points(points)
    tables = writer.rows
    tables["runs"] = [{**run, "limited": limited} for run in tables["runs"]]
    for digest in {p.digest for p in points}:
        labels = [row for row in tables["plan_labels"] if row["spec_digest"] == digest]
        store.put_plan(digest, {"specs": [{"spec_digest": digest, "name": "mine"}], "plan_labels": labels})
    for run in tables["runs"]:
        with store.open_run(run["run_id"]) as journal:
            steps = [row for row in tables["run_steps"] if row["run_id"] == run["run_id"]]
            times = {name: run[name].isoformat() for name in ("started_at", "ended_at")}
            journal.append({"runs": [{**run, **times}], "run_steps": steps})
    for step in tables["steps"]:
        put_step(store, step, {name: tables.get(name, ()) for name in ("rollouts", "grades", "candidates", "selections")})


def put_step(store: Store, step: Mapping, tables: Mapping[str, Sequence[Mapping]]) -> None:
    key = step["step_key"]
    rows = {
        table: [{k: v for k, v in row.items() if k != "step_key"} for row in its if row["step_key"] == key]
        for table, its in tables.items()
    }
    with store.open(key) as part:
        part.commit(Output(step["value"], rows), StepRecord(step["kind"], 1, {}, 0.1))


def value(made: Exhibit, row: str, column: str) -> float | None:
    return next(c.value for c in made.cells if (c.row, c.column) == (row, column))


def test_an_exhibit_comes_from_a_results_folder(folder):
    put(folder, study(load("mine")))
    made = regenerate("proposal_quality", folder, ["mine"])
    assert [value(made, "independent", c) for c in ("score", "failed_as_zero", "selected")] == [0.75, 0.5, 1.0]
    assert "mine: 2 of 2 specs" in markdown(made)
    assert "not up to date" not in markdown(made)


def test_an_edited_spec_is_another_spec_and_has_not_been_run(folder):
    put(folder, study(load("mine")))
    (folder.parent / "specs/mine.yaml").write_text(SPEC.replace("evaluation: 4", "evaluation: 5"))
    made = regenerate("proposal_quality", folder, ["mine"])
    assert value(made, "seed", "score") is None
    assert "mine: no finished run; `hbench run mine` fills seed, independent." in made.caption


def test_a_quick_look_is_shown_while_there_is_nothing_better(folder):
    put(folder, study([spec.limited(2) for spec in load("mine")], score=0.25), limited=2)
    made = regenerate("proposal_quality", folder, ["mine"])
    assert value(made, "seed", "score") == 0.25
    assert "A quick look, not a result: run with --limit 2." in made.caption
    put(folder, study(load("mine")))
    assert value(regenerate("proposal_quality", folder, ["mine"]), "seed", "score") == 0.5


def test_a_name_may_have_overrides_behind_it(folder):
    put(folder, study(load("mine", ["seed=7"])))
    made = regenerate("proposal_quality", folder, ["mine seed=7"])
    assert value(made, "seed", "score") == 0.5


def test_where_nothing_was_run_everything_is_missing_with_the_command_that_fills_it(folder):
    made = regenerate("proposal_quality", folder, ["mine"])
    assert all(cell.value is None for cell in made.cells)
    assert "mine: no finished run; `hbench run mine` fills seed, independent." in made.caption
    assert [row.spec for row in made.behind] == ["mine", "mine"]
    assert not folder.exists(), "looking leaves nothing behind"
