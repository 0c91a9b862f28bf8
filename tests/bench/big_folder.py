"""A results folder as large studies leave it: real plans, artifacts as the store lays them down, rows that are made up.

Real runs would take days. Files are written without waiting for the disk, and the same words give the same folder.
"""

import json
import os
import random
from contextlib import chdir
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hbench.core.digest import digest
from hbench.plan.step import Port
from hbench.store.artifacts import Store
from hbench.store.packing import parquet_file
from hbench.store.tables import SCHEMA, TABLES

SPEC = """
plan: adaptation
name: big-${{seed}}
family: {{kind: toy, ask: sum}}
splits: {{feedback: {questions}, scoring: same_as_feedback, evaluation: {questions}}}
harness: harnesses/plain.py
solver: {{weights: small, as_of: 2026-11-01}}
proposer: {{weights: large, as_of: 2026-11-01, prompt: proposer/search_replace, sampling: {{temperature: 1.0}}}}
rounds: {rounds}
proposals: 8
evaluate_all: true
arms:
  seed: {{rounds: 0}}
  main: {{}}
sweep:
  seed: [{seeds}]
"""
HARNESS = "def run(question, tools):\n    return tools.lm(question)\n"
CALLS = 3  # a rollout


@dataclass(frozen=True)
class Size:
    """points: of the sweep. questions: a split. A point of 5 rounds has about 190 steps, half of which run a harness."""

    points: int
    questions: int
    rounds: int = 5


def write_spec(folder: Path, size: Size) -> None:
    """specs/big.yaml and what it names, in the working folder `folder`."""
    (folder / "specs/harnesses").mkdir(parents=True, exist_ok=True)
    (folder / "specs/harnesses/plain.py").write_text(HARNESS)
    seeds = ", ".join(map(str, range(size.points)))
    (folder / "specs/big.yaml").write_text(SPEC.format(questions=size.questions, rounds=size.rounds, seeds=seeds))


def plans(folder: Path) -> list:
    """The plans of specs/big.yaml."""
    from hbench.plan import compile
    from hbench.spec import load

    with chdir(folder):
        return [compile(spec) for spec in load("big")]


def write_results(folder: Path, made: list, questions: int) -> int:
    """results/ in `folder`, as a finished run of the plans `made` leaves it; how many rollouts are in it."""
    store, rollouts = Store(folder / "results"), 0
    for number, plan in enumerate(made):
        store.put_plan(plan.spec.digest, plan.rows())
        run = {"run_id": f"big-{number:04}", "spec_digest": plan.spec.digest, "started_at": "2026-01-01T00:00:00"}
        keys = {step.id: digest(["key", step.id]) for step in plan.steps}
        with store.open_run(run["run_id"]) as journal:
            ended = {"status": "ran", "seconds": 1.0}
            journal.append({"run_steps": [{"run_id": run["run_id"], "step_id": i, "step_key": k, **ended} for i, k in keys.items()]})
            journal.append({"runs": [{**run, "ended_at": "2026-01-02T00:00:00", "outcome": "finished"}]})
        for step in plan.steps:
            if not (place := store.folder / "steps" / keys[step.id][:2] / keys[step.id]).exists():
                write_step(place, step, questions)
            rollouts += questions * (step.kind == "evaluate")
    return rollouts


def write_steps_alone(folder: Path, made: list) -> int:
    """Artifacts without rows under the keys that a run of the plans `made` looks for; how many there are."""
    steps, digests, values = folder / "results/steps", {}, {}
    fields: dict[str, set[str]] = {}
    for source in (source for plan in made for step in plan.steps for source in step.inputs.values() if isinstance(source, Port)):
        fields.setdefault(source.step.id, set()).add(source.field)

    def content(source) -> str:
        return digest(values[source.step.id][source.field]) if isinstance(source, Port) else digests[source.id]

    for step in {step.id: step for plan in made for step in plan.steps}.values():
        key = step.key({name: content(source) for name, source in step.inputs.items()})
        digests[step.id], values[step.id] = key, {field: [step.id, field] for field in fields.get(step.id, ())}
        _write_json(steps / key[:2] / key, step, values[step.id], {}, {})
    return len(digests)


def write_step(place: Path, step, questions: int) -> None:
    """The artifact of `step` at `place`."""
    large = _evaluated(step, questions) if step.kind == "evaluate" else {}
    small = _few_rows(step, questions)
    counts = {table: len(next(iter(columns.values()))) for table, columns in large.items()}
    value = {"harness": {"files": {"harness.py": HARNESS}}, "questions": [], "edit": None, "of": step.id}
    _write_json(place, step, value, counts or {table: len(rows) for table, rows in small.items()}, small)
    for table, columns in large.items():
        _write_parquet(place, table, columns)


def _write_json(place: Path, step, value, counts: dict[str, int], rows: dict) -> None:
    place.mkdir(parents=True)
    head = {
        **{"schema": SCHEMA, "key": place.name, "digest": place.name, "kind": step.kind, "version": step.version},
        **{"seconds": 1.0, "finished_at": "2026-01-01T00:00:00.0", "made_with": {}, "params": step.params},
        **{"value": value, "counts": counts},
    }
    (place / "step.json").write_text(json.dumps(head)[:-1] + ',\n"rows": ' + json.dumps(rows) + "}\n")


def _few_rows(step, questions: int) -> dict[str, list[dict]]:
    """Table -> rows that stand in step.json."""
    if step.kind == "propose":
        outcome = random.Random(step.id).choice(["applied"] * 4 + ["no_block"])
        row = {"candidate": 0, "parent_id": step.id[:16], "harness_id": step.id[:16], "outcome": outcome}
        return {"candidates": [{**row, "parsed": True, "applied": True, "prompt_tokens": 900, "completion_tokens": 300}]}
    if step.kind == "split":
        asked = [{"position": i, "role": step.params["role"], "question_id": f"{i:016x}"} for i in range(questions)]
        return {"split_questions": asked, "questions": [{"question_id": row["question_id"], "text": "1 + 1?"} for row in asked]}
    return {}


def _evaluated(step, questions: int) -> dict[str, dict[str, list]]:
    """Table -> column -> values: a rollout a question, with two grades and three calls, each with texts of its own."""
    draw, calls = random.Random(step.id), questions * CALLS
    skill = draw.random()
    scores = [float(draw.random() < skill) for _ in range(questions)]
    sent, received = _hex(draw, calls, 32), _hex(draw, calls, 32)
    said = [f"{digest} " + "What is the sum of these numbers? " * 6 for digest in sent]
    return {
        "rollouts": {**_base("rollouts", questions), "harness_id": [step.id[:16]] * questions, "score": scores},
        "grades": {**_base("grades", questions), "value": [score for score in scores for _ in range(2)]},
        "events": {**_base("events", questions), "request_id": _hex(draw, calls, 64), "sent_digest": sent, "received_digest": received},
        "texts": {"digest": sent + received, "text": said + [digest[:8] for digest in received]},
    }


def _hex(draw: random.Random, count: int, digits: int) -> list[str]:
    text = draw.randbytes(count * digits // 2).hex()
    return [text[at : at + digits] for at in range(0, len(text), digits)]


@cache
def _base(table: str, questions: int) -> dict[str, list]:
    """The columns that are alike in all steps."""
    each = {"rollouts": 1, "grades": 2, "events": CALLS}[table]
    count = questions * each
    at = {"candidate": [0] * count, "question_id": [f"{i:016x}" for i in range(questions) for _ in range(each)], "repeat": [0] * count}
    alike = {
        "rollouts": {"answer": "42", "completed": True, "calls": CALLS, "prompt_tokens": 300, "completion_tokens": 60, "seconds": 1.0},
        "grades": {},
        "events": {
            **{"kind": "lm", "role": "solver", "model": "m" * 16, "reused": False, "finish_reason": "stop"},
            **{"prompt_tokens": 100, "completion_tokens": 20, "seconds": 0.3},
        },
    }[table]
    told = {name: [value] * count for name, value in alike.items()}
    names = {"grades": {"name": ["score", "exact"] * questions}, "events": {"position": list(range(CALLS)) * questions}}
    return {**at, **told, **names.get(table, {})}


_TYPES = {"VARCHAR": "string", "BIGINT": "int64", "DOUBLE": "float64", "BOOLEAN": "bool_"}


def _write_parquet(place: Path, table: str, columns: dict[str, list]) -> None:
    import pyarrow
    import pyarrow.parquet

    shape, count = TABLES[table], len(next(iter(columns.values())))
    made = {"step_key": pyarrow.array([place.name] * count)} if shape.sort == "step" else {}
    for column in shape.written:
        made[column.name] = pyarrow.array(columns.get(column.name, [column.default] * count), getattr(pyarrow, _TYPES[column.type])())
    file = parquet_file(place, table)
    os.makedirs(file.parent, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table(made), file, compression="zstd", row_group_size=2048)
