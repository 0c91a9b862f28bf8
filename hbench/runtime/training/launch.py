"""The driver's side of a training step: go on from the last checkpoint, start the ranks, watch them, take what they made."""

import json
from collections import defaultdict
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hbench.core.failure import StepError
from hbench.core.model import ModelRef
from hbench.core.protocols import Part
from hbench.core.training import Trained, TrainingJob
from hbench.runtime.training.job import write_job
from hbench.runtime.training.processes import JOB, Processes, wait_until_gone, why
from hbench.runtime.training.rows import Progress, cut, lines, means, rows_file, rows_files
from hbench.runtime.training.trackers import tracker_environment
from hbench.steps.run_setting import model_ref

FOLDER, TRAINED, FINAL = "train", "trained.json", "final"
NEEDED = ("torch", "transformers", "trl", "peft", "accelerate", "datasets")
# What a step reads of the rows it made; all other tables go straight into its part folder, an update at a time.
RETURNED = ("updates", "completions", "candidates", "reward_terms")


def train(
    services: Any, part: Part, job: TrainingJob, told: Callable[[int, int], None], serve: Callable[[], str]
) -> Trained:
    """See core.protocols.Services.train. services: RunServices. told: of updates done, and of all where that is known.

    serve: gives the address at which the ranks reach models.
    """
    folder = part.folder / FOLDER
    folder.mkdir(exist_ok=True)
    _check_installed()
    wait_until_gone(folder, services.check)
    if not _made(folder):
        with services.device.alone(*services.device_users(*_asked(job))):
            _prepare(folder, job, services, serve)
            _run(folder, job, services, told)
    return _collected(folder, part)


def _made(folder: Path) -> bool:
    """Whether everything was trained. What a commit that was cut short had moved away is saved again, from the last
    checkpoint."""
    return (folder / TRAINED).exists() and (folder / FINAL).is_dir()


def _check_installed() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise StepError(f"training needs the extra 'train' ({', '.join(missing)} missing): pip install 'hbench[train]'")


def _prepare(folder: Path, job: TrainingJob, services: Any, serve: Callable[[], str]) -> None:
    """Everything behind the last whole checkpoint is forgotten: it is trained again."""
    from hbench.engines.trainer_log import latest, update_of

    done = update_of(latest(folder))
    for file in rows_files(folder):
        cut(file, done)
    for old in (*folder.glob("log-*.txt"), *folder.glob("trouble-*.json")):
        old.unlink()
    write_job(folder / JOB, job, services.machine, serve() if job.reward else None)


def _asked(job: TrainingJob) -> list[ModelRef]:
    """The models that the training itself asks: the solvers of its trials."""
    return [model_ref(family["solver"]) for family in (job.reward or {}).get("families", {}).values()]


def _run(folder: Path, job: TrainingJob, services: Any, told: Callable[[int, int], None]) -> None:
    progress, total = Progress(rows_file(folder, 0)), _total(job)

    def look() -> None:
        services.check()
        told(min(progress.look(), total - 1), total)

    machine = services.machine
    trackers = tracker_environment(machine.training.get("report_to", ()), machine.results, job.method, folder.parent.stem)
    processes = Processes(folder, machine.training, trackers)
    with services.ending(processes):
        code = processes.wait(look)
    if code or not _made(folder):
        raise why(folder, code, processes.count)
    told(total, total)


def _total(job: TrainingJob) -> int:
    """Updates in all. Of epochs it is what the rows make; the trainer may count a broken epoch otherwise."""
    recipe = job.recipe
    if recipe.get("updates"):
        return recipe["updates"]
    with job.rows.open("rb") as rows:
        count = sum(1 for _ in rows)
    return max(1, round(count * recipe["epochs"] / recipe["batch"]))


def _collected(folder: Path, part: Part) -> Trained:
    """Merges the ranks' rows: those that the step reads are returned, the others appended to its part folder."""
    found: dict[str, list[dict]] = defaultdict(list)
    for rows in lines(folder):
        for table in RETURNED:
            found[table] += rows.pop(table, ())
        part.append(rows)
    found["updates"] += means(found["completions"], found["candidates"], found["reward_terms"])
    made = json.loads((folder / TRAINED).read_text())
    return Trained(folder / "final", made["checkpoint"], made["updates"], found)
