"""What a training step made: found by its key, told about in a card, and copied out with it."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.published import CARD
from hbench.core.training import CHECKPOINT
from hbench.store.model_card import model_card
from hbench.store.reading import read_record

MEASURING = frozenset({"harness", "split", "evaluate", "report"})  # in a lineage these are counted, not listed


@dataclass(frozen=True)
class TrainedStep:
    """A finished training step. record: its step.json. files: where the checkpoint lies."""

    key: str
    record: Json
    files: Path

    @property
    def checkpoint(self) -> Json:
        """{"kind": adapter or weights, "base": identity of what was trained, "sha256": of the files}."""
        return self.record["value"][CHECKPOINT]


def read_trained(folder: Path) -> TrainedStep | None:
    """The training step in a step's folder; None where there is no step, or one of another sort."""
    record, files = read_record(folder), folder / "files" / CHECKPOINT
    value = record and record["value"]
    if isinstance(value, dict) and isinstance(value.get(CHECKPOINT), dict) and files.is_dir():
        return TrainedStep(record["key"], record, files)
    return None


def find_trained(results: Path, key: str) -> TrainedStep:
    """The training step whose key begins with `key`. Raises HbenchError when there is none, or more than one."""
    odd = not key or not all(letter in "0123456789abcdef" for letter in key)
    found = [] if odd else [f for f in sorted((results / "steps").glob(f"*/{key}*")) if "." not in f.name]
    trained = [step for folder in found if (step := read_trained(folder))]
    if len(trained) > 1:
        listed = ", ".join(f"{step.key[: len(key) + 8]}… ({step.record['kind']})" for step in trained[:4])
        raise HbenchError(f"{len(trained)} training steps begin with {key}: {listed}; give more of the key")
    if trained:
        return trained[0]
    if found:
        kinds = sorted({(read_record(folder) or {"kind": "?"})["kind"] for folder in found})
        raise HbenchError(f"{key} is no training step ({', '.join(kinds)}): it holds no checkpoint")
    hint = "`hbench sql \"select step_key, kind from steps where kind like 'train%'\"` lists them"
    raise HbenchError(f"no step in {results}/ has a key that begins with {key!r}; {hint}")


def card(step: TrainedStep, connection: Any) -> Json:
    """What stands beside a trained model. connection: to the database of its results, which knows where it came from."""
    record = step.record
    params = {name: value for name, value in record["params"].items() if name not in ("model", "families")}
    return {
        **step.checkpoint,
        "step": {"key": step.key, "kind": record["kind"], "version": record["version"]},
        "params": params,
        "updates": record["value"].get("updates"),
        "lineage": lineage(connection, step.key),
        "made_with": {name: value for name, value in record["made_with"].items() if name != "host"},
    }


def put_checkpoint(card: Json, files: Path, target: Path) -> None:
    """Copies the files of a checkpoint into `target`, a new folder, with its card and a README.md beside them."""
    shutil.copytree(files, target, copy_function=shutil.copyfile)  # libraries let none but us read what they write
    (target / CARD).write_text(json.dumps(card, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    (target / "README.md").write_text(model_card(card, target), encoding="utf-8")


def lineage(connection: Any, key: str) -> list[Json]:
    """The steps that a training step comes from and itself, earliest first; of those that only measure, how many.

    As its newest run knows them; [] when no run has ended with it.
    """
    run = connection.execute(
        "select run_id, spec_digest, step_id from run_steps join runs using (run_id) where step_key = ? "
        "order by run_id desc, step_id limit 1",
        [key],
    ).fetchone()
    if run is None:
        return []
    edges = connection.execute(
        "select step_id, from_step_id from plan_edges where spec_digest = ? order by all", [run[1]]
    ).fetchall()
    depths = _depths(edges, run[2])
    rows = connection.execute(_STEPS, [run[0], sorted(depths)]).fetchall()
    told = [(-depths[i], kind, key, params, value) for i, key, kind, params, value in rows if kind not in MEASURING]
    counted: dict[str, int] = {}
    for kind in (row[2] for row in rows if row[2] in MEASURING):
        counted[kind] = counted.get(kind, 0) + 1
    measured = [{"measured": dict(sorted(counted.items()))}] if counted else []
    return measured + [_told(*row[1:]) for row in sorted(told, key=lambda row: row[:3])]


_STEPS = """
select
  r.step_id,
  s.step_key,
  s.kind,
  s.params::varchar,
  s.value::varchar
from run_steps as r
join steps as s
  using (step_key)
where r.run_id = ?
  and r.step_id in (select unnest(?))
order by
  r.step_id
"""


def _depths(edges: list[tuple[str, str]], step_id: str) -> Mapping[str, int]:
    """step id -> how many steps lie between it and `step_id` on the longest way, for all that it comes from."""
    parents: dict[str, list[str]] = {}
    for child, parent in edges:
        parents.setdefault(child, []).append(parent)
    depths, layer, depth = {step_id: 0}, {step_id}, 0
    while layer:
        depth += 1
        layer = {parent for child in layer for parent in parents.get(child, ())}
        depths |= dict.fromkeys(layer, depth)
    return depths


def _told(kind: str, key: str, params: str, value: str) -> Json:
    """One step of a lineage: what it is, the families that its contexts are of, and what it trained."""
    said, given = json.loads(params or "{}"), json.loads(value or "null")
    entries = said.get("entries") if isinstance(said, dict) else None
    families = sorted({e["family"] for e in entries}) if kind == "contexts" and entries else None
    made = given.get(CHECKPOINT) if isinstance(given, dict) else None
    told = {"kind": kind, "key": key, "families": families, "sha256": made["sha256"] if isinstance(made, dict) else None}
    return {name: each for name, each in told.items() if each is not None}
