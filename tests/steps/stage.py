"""One step at a time, with real jails and a real store; models are recorded, and trainers are what a test says."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hbench.core.digest import Json, digest
from hbench.core.limits import Limits
from hbench.core.message import Sampling
from hbench.core.model import ModelRef
from hbench.core.output import Artifact
from hbench.core.prompt import load_prompt
from hbench.engines.scripted import ScriptedLM
from hbench.parts.part import build
from hbench.runtime.progress import Progress
from hbench.runtime.services import Machine, RunServices
from hbench.steps.step_kind import find
from hbench.store.artifacts import Store
from hbench.store.part import StepRecord
from tests.world import write_replies

TOY = {"kind": "toy", "name": "toy", "ask": "sum"}
TERMS = {
    "parsed": {"kind": "parsed", "weight": 0.05},
    "applied": {"kind": "applied", "weight": 0.10},
    "completed": {"kind": "completed", "weight": 0.15},
    "task_score": {"kind": "task_score", "weight": 1.0},
}
EDIT = build("edits", {"kind": "search_replace"}).to_json()
PROMPT = load_prompt("proposer/search_replace").to_json()
REPORT = {
    "prompt": load_prompt("report/reasoning_gym").to_json(), "failures": 2, "successes": 0, "history": 5,
    "show_gold": False, "show_answers": True, "show_retrieved": True, "show_missed": True, "show_traces": True,
    "trace_chars": 400, "scores_only": False,
}  # fmt: skip


class Free(ScriptedLM):
    """A scripted model that a test puts where a run has its own; nobody pays for it."""

    def paid_by(self, payer: Any) -> ScriptedLM:
        return self


class Stage:
    """folder: results and the files of recorded replies, which `records` writes."""

    def __init__(self, folder: Path):
        self.folder, self.store, self._models = folder, Store(folder / "results"), {}
        self.services = RunServices(Machine(folder / "results", self._models), Progress(quiet=True))

    def records(self, role: str, *rows: Json) -> Json:
        """The params of a model that answers with these lines of a recorded file."""
        file = self.folder / f"{role}-{len(self._models)}.jsonl"
        write_replies(file, list(rows))
        identity = {"kind": "recorded", "file": hashlib.sha256(file.read_bytes()).hexdigest()}
        model = ModelRef(role, str(file), identity, Sampling(temperature=1.0))
        self._models[model.digest] = (model, {"file": str(file)})
        return model.to_json()

    def run(self, kind: str, params: Json, inputs: Mapping[str, Artifact] | None = None, **instead: Callable) -> Artifact:
        """The finished artifact; equal recipes are run once. instead: services that a test gives (train, tokenise, ask)."""
        inputs = inputs or {}
        key = digest([kind, params, {name: made.digest for name, made in inputs.items()}])
        part = self.store.open(key)
        if isinstance(part, Artifact):
            return part
        with part:
            services = self.services.of(part, kind)
            for name, service in instead.items():
                setattr(services, name, service)
            output = find(kind).run(params, inputs, services)
            return part.commit(output, StepRecord(kind, 1, params, 0.0))

    def close(self) -> None:
        self.services.close()


def port(made: Artifact, field: str) -> Artifact:
    """One field of a step's value, as an input."""
    return replace(made, value=made.value[field], digest=digest(made.value[field]))


def value(content: Json) -> Artifact:
    """An input that no step made."""
    return Artifact(digest(content), content, digest(content), Path(), lambda table: [])


def setting(solver: Json, family: Json = TOY, **changed: Any) -> Json:
    """How a harness is run, as an evaluate step takes it."""
    return {
        "family": build("families", family).to_json(),
        "solver": solver,
        "limits": Limits(wall_s=5.0, cpu_s=5.0).to_json(),
        "repeats": 1,
        "grade": "score",
        "seed": 0,
        **changed,
    }


def questions(count: int, first: int = 0, family: Json = TOY) -> Artifact:
    """As the port `questions` of a split gives them."""
    return value([question.to_json() for question in build("families", family).questions(first, first + count, 0)])


def context(harness: Json, position: int = 0, **changed: Json) -> Json:
    """An edit context as a contexts step's value holds it."""
    told = {"family": "toy", "description": "Add.", "chain": position, "depth": 0, "parent": "seed", "report": "Score 0."}
    return {"position": position, "entry": position, "harness": harness, **told, **changed}


def contexts_value(*made: Json) -> Artifact:
    """As a contexts step gives them."""
    families = list(dict.fromkeys(one["family"] for one in made))
    return value({"contexts": list(made), "dropped": 0, "entries": len(made), "families": families})
