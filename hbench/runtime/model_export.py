"""A trained model taken out of the results folder, as others load it."""

import os
import tempfile
from contextlib import closing
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.folder_digest import folder_digest
from hbench.store.checkpoint import TrainedStep, card, find_trained, put_checkpoint
from hbench.store.database import fold
from hbench.store.query import open_read_only


def export_model(results: Path, key: str, folder: Path, merged: bool = False) -> Json:
    """Writes the checkpoint of the training step `key` (or the only one that begins so) into `folder`; gives its card.

    An adapter as peft writes it; whole weights as a Hugging Face folder. merged: an adapter merged into its base, as
    whole weights. Raises HbenchError when there is no such step, or `folder` is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise HbenchError(f"{folder} is not empty: give a new folder")
    step = find_trained(results, key)
    fold(results, wait_s=5.0)
    with closing(open_read_only(results, 10.0)) as connection:
        told = card(step, connection)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
        files, told = _merged(step, told, Path(beside)) if merged and told["kind"] == "adapter" else (step.files, told)
        put_checkpoint(told, files, Path(beside) / "whole")
        if folder.exists():
            folder.rmdir()
        os.rename(Path(beside) / "whole", folder)
    return told


def _merged(step: TrainedStep, told: Json, beside: Path) -> tuple[Path, Json]:
    from hbench.engines.merged_folder import write_merged

    write_merged(told["base"], step.files, beside / "merged")
    made = {"kind": "weights", "sha256": folder_digest(beside / "merged"), "merged_from": told["sha256"]}
    return beside / "merged", {**told, **made}
