"""A small results folder for the store's tests: real rows of one spec with two families of steps."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from hbench.core.digest import digest, text_digest
from hbench.core.output import Artifact, Output
from hbench.store.artifacts import Store
from hbench.store.part import StepRecord

SPEC, RUN = "5" * 64, "run-1"


def key(name: str) -> str:
    return digest(name)


def record(kind: str = "evaluate", seconds: float = 1.5) -> StepRecord:
    return StepRecord(kind, 1, {"of": kind}, seconds, {"host": "here"})


def put(store: Store, name: str, rows: Mapping[str, Sequence[Mapping]] | None = None, value=None) -> Artifact:
    """A finished step named `name`."""
    with store.open(key(name)) as part:
        return part.commit(Output(value, rows or {}), record())


def rollout(i: int, harness="h", score=1.0, seconds=0.1, reused=False) -> dict[str, list[dict]]:
    """What one rollout leaves: itself, its grades, one lm event and the event's texts."""
    question, sent, received = f"q{i}", f"what is {i}?", f"it is {i}"
    at = {"question_id": question, "repeat": 0}
    return {
        "rollouts": [
            at | {"harness_id": harness, "answer": str(i), "score": score, "completed": True, "calls": 1}
            | {"prompt_tokens": 10, "completion_tokens": 5, "seconds": seconds}
        ],
        "grades": [at | {"name": "score", "value": score}, at | {"name": "exact", "value": float(score >= 1)}],
        "events": [
            at | {"position": 0, "kind": "lm", "role": "solver", "model": "m", "request_id": digest(i)}
            | {"reused": reused, "seconds": seconds, "prompt_tokens": 10, "completion_tokens": 5}
            | {"sent_digest": text_digest(sent), "received_digest": text_digest(received)}
        ],
        "texts": [{"digest": text_digest(t), "text": t} for t in (sent, received)],
    }  # fmt: skip


def rollouts(scores: Sequence[float], harness: str = "h") -> dict[str, list[dict]]:
    """The rows of one evaluate step: a question for each score."""
    together: dict[str, list[dict]] = {}
    for i, score in enumerate(scores):
        for table, rows in rollout(i, harness, score).items():
            together.setdefault(table, []).extend(rows)
    return together


def plan(labels: Mapping[str, Sequence[Mapping]], name: str = "quick") -> dict[str, list[dict]]:
    """Rows of a plan: step name -> what it is for."""
    given = {"spec_digest": SPEC}
    read = {"name": name, "plan": "adaptation", "file": "specs/quick.yaml", "point": {}, "text": "plan: …"}
    edge = {"input": "questions", "from_step_id": "split"}
    return {
        "specs": [given | read],
        "plan_steps": [given | {"step_id": step, "kind": "evaluate"} for step in labels],
        "plan_labels": [given | {"step_id": step} | label for step, some in labels.items() for label in some],
        "plan_edges": [given | edge | {"step_id": step} for step in labels],
    }


def label(purpose: str, arm: str = "a", round: int | None = None, slot: int | None = None) -> dict:
    return {"purpose": purpose, "arm": arm, "family": "maze", "seed": 0, "round": round, "slot": slot, "label": purpose}


def put_run(store: Store, steps: Sequence[str], run: str = RUN, outcome: str | None = "finished") -> None:
    """A run that found every one of `steps` under its own name."""
    begun = {"run_id": run, "spec_digest": SPEC, "started_at": "2026-01-01T00:00:00"}
    with store.open_run(run) as journal:
        journal.append({"runs": [begun]})
        for step in steps:
            row = {"run_id": run, "step_id": step, "step_key": key(step), "status": "ran", "seconds": 1.0}
            journal.append({"run_steps": [row]})
        if outcome:
            journal.append({"runs": [begun | {"ended_at": "2026-01-02T00:00:00", "outcome": outcome}]})


def contents(folder: Path) -> dict[str, list[tuple]]:
    """Every table's rows but for bookkeeping and volatile columns, sorted."""
    from hbench.store.query import open_read_only
    from hbench.store.tables import TABLES

    found = {}
    with open_read_only(folder, 10.0) as database:
        for table in TABLES.values():
            if table.name != "folded":
                columns = ", ".join(f'"{c.name}"' for c in table.columns if not c.volatile)
                found[table.name] = database.execute(f'select {columns} from "{table.name}" order by all').fetchall()
    return found
