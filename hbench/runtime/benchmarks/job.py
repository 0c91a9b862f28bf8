"""What lm-eval's process reads, and what it leaves: JSON files in the step's part folder."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from hbench.core.benchmark import Benchmarked, BenchmarkJob
from hbench.core.digest import Json
from hbench.core.model import ModelRef

JOB, FOUND, TROUBLE, CACHE = "job.json", "found.json", "trouble.json", "answers.db"
PAID_AT = "HBENCH_PAID_AT"  # environment variable: where its calls are paid for, an address that nobody else may know


@dataclass(frozen=True)
class Told:
    """reach: the model's entry under machine.models. It names variables that hold keys, never a key."""

    job: BenchmarkJob
    reach: Json
    sandbox: str


def write_job(file: Path, job: BenchmarkJob, reach: Json, sandbox: str) -> None:
    model = job.model
    told = {"role": model.role, "name": model.name, "identity": model.identity}
    told |= {"files": str(model.files.absolute()) if model.files else None}
    write(file, {"model": told, "job": job.to_json(), "reach": reach, "sandbox": sandbox})


def read_job(file: Path) -> Told:
    """What `write_job` wrote."""
    told = json.loads(file.read_text())
    model, asked = told["model"], told["job"]
    files = Path(model["files"]) if model["files"] else None
    ref = ModelRef(model["role"], model["name"], model["identity"], files=files)
    return Told(BenchmarkJob(ref, **{**asked, "tasks": tuple(asked["tasks"])}), told["reach"], told["sandbox"])


def write_found(file: Path, found: Benchmarked) -> None:
    write(file, asdict(found))


def read_found(file: Path) -> Benchmarked:
    return Benchmarked(**json.loads(file.read_text()))


def write(file: Path, value: Json) -> None:
    """The file is there whole, or not at all."""
    fresh = file.with_suffix(".part")
    fresh.write_text(json.dumps(value))
    os.replace(fresh, file)
