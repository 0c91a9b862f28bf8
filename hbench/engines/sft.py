"""Supervised training on ready-made tokens and labels, thin over TRL."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.training import Note, Task
from hbench.engines import trainable
from hbench.engines.mask import IGNORED
from hbench.engines.shared_prompt import Collator, share_prompts
from hbench.engines.trainer_log import Log, batches, fit, trainer_arguments


def train_sft(task: Task, rows: Path, note: Note) -> None:
    """Trains on JSON Lines of {"input_ids", "labels", "group"}; leaves task.folder/final. Each process calls it.

    An update's loss is the mean over its trained tokens, however the rows are cut for memory or shared by processes.
    Raises StepError, also for a row that is longer than the recipe's max_length or trains no token.
    """
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    recipe, given = task.recipe, read_rows(rows, task.recipe["max_length"])
    updates = recipe.get("updates") or max(1, round(recipe["epochs"] * len(given) / recipe["batch"]))
    order = order_of([row["group"] for row in given], updates * recipe["batch"], task.seed)
    model, tokenizer = trainable.load(task)
    arguments = SFTConfig(
        **trainer_arguments(task, updates),
        **batches(task, recipe["batch"]),
        max_length=None,  # no row is cut
        dataset_kwargs={"skip_prepare_dataset": True},
        remove_unused_columns=False,
        train_sampling_strategy="sequential",  # `order` says which row comes when
    )

    class Trainer(SFTTrainer):
        def create_model_card(self, *_, **__) -> None:
            """None is wanted beside a checkpoint."""

        def _send_telemetry(self) -> None:
            """Nobody is told."""

    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_list(given).select(order),
        processing_class=tokenizer,
        callbacks=[Log(note)],
    )
    if task.machine.get("share_prompts", True) and share_prompts(trainer.model):
        trainer.data_collator = Collator()
    fit(trainer, task, tokenizer)


def read_rows(file: Path, longest: int) -> list[Json]:
    """The rows to train on. Raises StepError when there is none, or one that cannot be trained as it is."""
    with file.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if not rows:
        raise StepError("there is no row to train on")
    for place, row in enumerate(rows):
        count, labels = len(row["input_ids"]), row["labels"]
        if count > longest:
            raise StepError(f"row {place} has {count} tokens, more than max_length {longest}: its end would be lost")
        if len(labels) != count or all(label == IGNORED for label in labels):
            raise StepError(f"row {place} has {count} tokens and {len(labels)} labels, none of which may be trained")
    return rows


def order_of(groups: Sequence[Any], count: int, seed: int) -> list[int]:
    """Which row comes when, `count` of them: every row once an epoch, in another order each.

    Rows of a group follow each other, so that they can be read behind one copy of their prompt.
    """
    draw, order = random.Random(seed), []
    places: dict[Any, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    while len(order) < count:
        epoch = list(places.values())
        draw.shuffle(epoch)
        for group in epoch:
            order += draw.sample(group, len(group))
    return order[:count]
