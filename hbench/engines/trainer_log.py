"""What both trainers share: their arguments, the rows they leave an update, and going on after a kill."""

import json
import math
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.training import Note, Task
from hbench.engines import trainable
from hbench.engines.local_model import compute_dtype

CHECKPOINTS, FINAL = "checkpoints", "final"
WHOLE = "whole.json"  # the last thing written into a checkpoint
NAMES = {"loss": "loss", "learning_rate": "learning_rate", "grad_norm": "grad_norm"}


def trainer_arguments(task: Task, updates: int | None = None) -> dict[str, Any]:
    """The TrainingArguments that do not depend on the method. updates: default, the recipe's.

    The learning rate rises in a line over `warmup` updates, from `floor` times its height; then it stays, or falls to
    `floor` times it at the end.
    """
    import torch

    recipe, machine, gpu = task.recipe, task.machine, torch.cuda.is_available()
    updates = updates or recipe["updates"]
    warmup, schedule = recipe.get("warmup") or 0, recipe.get("schedule") or "constant"
    falls = schedule != "constant"
    return {
        "output_dir": str(task.folder / CHECKPOINTS),
        "max_steps": updates,
        "learning_rate": recipe["learning_rate"],
        "warmup_steps": warmup,
        "lr_scheduler_type": "warmup_stable_decay",
        "lr_scheduler_kwargs": {
            "num_decay_steps": max(0, updates - warmup) if falls else 0,
            "decay_type": schedule if falls else "linear",
            "min_lr_ratio": recipe.get("floor") or 0.0,
        },
        "weight_decay": recipe.get("weight_decay") or 0.0,
        "max_grad_norm": recipe.get("clip") or 0.0,
        "seed": task.seed % 2**32,  # numpy takes no larger one
        "data_seed": task.seed % 2**32,
        "bf16": compute_dtype(task.model.base) == torch.bfloat16,  # the adapter, or whole weights, stay in float32
        "use_cpu": not gpu,
        "ddp_backend": None if gpu or task.processes == 1 else "gloo",
        "activation_checkpointing": gpu,  # a small model on a CPU is short of time, not of memory
        "dataloader_pin_memory": gpu,
        "save_strategy": "steps",
        "save_steps": machine.get("save_every") or 10,
        "save_total_limit": 2,
        "logging_steps": 1,
        "logging_nan_inf_filter": False,  # it would write the last good loss in place of NaN
        "report_to": list(machine.get("report_to") or []) or "none",
        "disable_tqdm": True,
    }


def batches(task: Task, rows: int) -> dict[str, int]:
    """How `rows` an update are cut for memory: the largest batch up to machine's micro_batch that divides them."""
    if rows % task.processes:
        raise StepError(f"{rows} rows an update cannot be shared by {task.processes} processes")
    share = rows // task.processes
    most = min(task.machine.get("micro_batch") or 8, share)
    size = max(size for size in range(1, most + 1) if share % size == 0)
    return {"per_device_train_batch_size": size, "gradient_accumulation_steps": share // size}


class Log:
    """A TrainerCallback: one note a value and update, from the first process alone; marks checkpoints as whole.

    names: what the trainer logs -> what the row is called, besides loss, learning_rate, grad_norm and seconds (of the
    whole update). Raises StepError, in every process, when the loss is no number any more.
    """

    def __init__(self, note: Note, names: Mapping[str, str] | None = None):
        self.note, self.names = note, {**NAMES, **(names or {})}
        self._started = time.perf_counter()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on_"):  # an event that is of no interest
            return lambda *_, **__: None
        raise AttributeError(name)

    def on_step_begin(self, *_, **__) -> None:
        self._started = time.perf_counter()

    def on_log(self, _, state: Any, __, logs: Json, **___) -> None:
        if "loss" not in logs:  # the summary after the last update
            return
        if not math.isfinite(logs["loss"]):
            raise StepError(f"update {state.global_step}: the loss is {logs['loss']}; a lower learning rate may help")
        if state.is_world_process_zero:
            logs = {**logs, "seconds": time.perf_counter() - self._started}
            for name, value in logs.items():
                if name == "seconds" or name in self.names:
                    self.note(state.global_step, self.names.get(name, name), float(value))

    def on_save(self, arguments: Any, state: Any, _, **__) -> None:
        from accelerate import PartialState

        PartialState().wait_for_everyone()  # each process has written its own random state
        if state.is_world_process_zero:
            update = state.global_step
            mark = Path(arguments.output_dir) / f"checkpoint-{update}" / WHOLE
            mark.write_text(json.dumps({"update": update}), encoding="utf-8")


def latest(folder: Path) -> Path | None:
    """The newest whole checkpoint of a training folder; its name is checkpoint-<update>."""
    found = [mark.parent for mark in (folder / CHECKPOINTS).glob(f"checkpoint-*/{WHOLE}")]
    return max(found, key=update_of, default=None)


def update_of(checkpoint: Path | None) -> int:
    """How many updates a checkpoint has behind it; 0 for None."""
    return int(checkpoint.name.split("-")[-1]) if checkpoint else 0


def fit(trainer: Any, task: Task, tokenizer: Any) -> None:
    """Trains from the latest checkpoint, or from the start, to the end; the first process leaves task.folder/final."""
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)
    found = latest(task.folder)
    with _heard_out(task):
        trainer.train(resume_from_checkpoint=str(found) if found else None)
    state = trainer.accelerator.get_state_dict(trainer.model) if task.processes > 1 else None
    if task.rank == 0:
        part = task.folder / f"{FINAL}.part"
        shutil.rmtree(part, ignore_errors=True)
        model = trainer.accelerator.unwrap_model(trainer.model)
        trainable.save(model, tokenizer, part, task.model.base.get("weights"), state)
        shutil.rmtree(task.folder / FINAL, ignore_errors=True)
        os.replace(part, task.folder / FINAL)
    trainer.accelerator.wait_for_everyone()


@contextmanager
def _heard_out(task: Task) -> Iterator[None]:
    """Waits until W&B has what it was told: the process ends at once when all is trained, and would cut it off."""
    failed = True
    try:
        yield
        failed = False
    finally:
        if task.rank == 0 and "wandb" in (task.machine.get("report_to") or ()):
            import wandb

            wandb.finish(exit_code=int(failed))
