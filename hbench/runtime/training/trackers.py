"""Trackers that TRL also writes to, where machine.training.report_to names them: what they need, and where they write."""

import os
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from hbench.core.failure import HbenchError

NEEDS = {"tensorboard": ("tensorboard", "tensorboardX"), "wandb": ("wandb",)}  # any of these packages
FOLDER = "trackers"  # below the results: a training step's own folder goes when it is done
PROJECT = "hbench"


def check_trackers(report_to: Iterable[str]) -> None:
    """Raises HbenchError for a tracker that is not installed: the trainer would say so after all that comes before it."""
    for name in report_to:
        if not any(find_spec(package) for package in NEEDS[name]):
            raise HbenchError(f"machine.training.report_to: {name} is not installed: pip install {name}")


def tracker_environment(report_to: Iterable[str], results: Path, method: str, key: str) -> Mapping[str, str]:
    """What the processes of one training step are told. The step's key names it, so that a resumed one goes on where it stood.

    What the user says by variables of the same names counts.
    """
    named, folder = f"{method}-{key[:8]}", (results / FOLDER).absolute()
    told: dict[str, str] = {}
    if "tensorboard" in report_to:
        told["TENSORBOARD_LOGGING_DIR"] = str(folder / "tensorboard" / named)
    if "wandb" in report_to:
        folder.mkdir(parents=True, exist_ok=True)  # else wandb writes to a folder of its own choice
        told |= {"WANDB_DIR": str(folder), "WANDB_PROJECT": PROJECT, "WANDB_NAME": named, "WANDB_RUN_ID": key[:32], "WANDB_RESUME": "allow"}
    return {name: os.environ.get(name, value) for name, value in told.items()}
