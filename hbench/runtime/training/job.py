"""What a rank reads: the job, and how this machine reaches models. One JSON file, for its owner's eyes: it holds gold."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.message import Sampling
from hbench.core.model import ModelRef
from hbench.core.training import Task, TrainingJob
from hbench.runtime.services import Machine

SERVED = "served_by_the_driver"  # in a model's settings: the driver's address, in place of its own


@dataclass(frozen=True)
class RankJob:
    """machine: this rank's share of the driver's. training: machine.training as JSON."""

    job: TrainingJob
    machine: Machine
    training: Json

    def task(self, folder: Path, rank: int, processes: int) -> Task:
        job = self.job
        return Task(job.model, job.recipe, job.seed, folder, rank, processes, self.training)


def write_job(file: Path, job: TrainingJob, machine: Machine, served: str | None) -> None:
    """served: address of the driver's server, where every model is reached: one process keeps limits of rate and of money.

    None: the ranks ask no model.
    """
    processes = machine.training["processes"]
    told = {
        "job": {
            "method": job.method,
            "model": _model_json(job.model),
            "recipe": job.recipe,
            "seed": job.seed,
            "rows": str(job.rows.absolute()) if job.rows else None,
            "prompts": list(job.prompts),
            "reward": job.reward,
        },
        "machine": {
            "results": str(machine.results.absolute()),
            "sandbox": machine.sandbox,
            "in_flight": max(1, machine.in_flight // processes),
            "models": [[_model_json(ref), {SERVED: served}] for ref, _ in machine.models.values()],
        },
        "training": machine.training,
    }
    fresh = file.with_suffix(".part")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as out:
        json.dump(told, out)
    os.replace(fresh, file)


def read_job(file: Path) -> RankJob:
    """What `write_job` wrote."""
    told = json.loads(file.read_text())
    job, machine = told["job"], told["machine"]
    rows = Path(job["rows"]) if job["rows"] else None
    models = {ref.digest: (ref, reach) for ref, reach in ((_model(ref), reach) for ref, reach in machine["models"])}
    return RankJob(
        TrainingJob(**{**job, "model": _model(job["model"]), "rows": rows}),
        Machine(Path(machine["results"]), models, machine["sandbox"], machine["in_flight"], training=told["training"]),
        told["training"],
    )


def in_process(ref: ModelRef, reach: Json) -> bool:
    """Whether the driver holds the model itself: the ranks must not hold copies of it."""
    return ref.identity.get("kind") in ("recorded", "rules") or not (reach.get("base_url") or reach.get("port"))


def _model_json(ref: ModelRef) -> Json:
    return {**ref.to_json(), "name": ref.name, "prompt": ref.prompt, "files": str(ref.files.absolute()) if ref.files else None}


def _model(told: Mapping[str, Json]) -> ModelRef:
    sampling = Sampling(**{**told["sampling"], "stop": tuple(told["sampling"]["stop"])})
    ref = ModelRef(told["role"], told["name"], told["identity"], sampling, told["prompt"])
    return replace(ref, files=Path(told["files"])) if told["files"] else ref
