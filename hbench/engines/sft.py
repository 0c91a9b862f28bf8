"""Supervised training on ready-made tokens and labels, thin over TRL."""

import json
import math
import random
from collections.abc import Callable, Sequence
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

    An update's loss is the mean over its trained tokens, however the rows are cut for memory or shared by processes. Where
    rows have `weights`, one a token, it is the sum of weight x token loss over `batch` mean rows: rows whose weights sum
    to 1 count alike, however long they are. Raises StepError, also for a row that is longer than the recipe's max_length or
    trains no token.
    """
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    recipe, given = task.recipe, scaled(read_rows(rows, task.recipe["max_length"]), task.recipe["batch"])
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

        def compute_loss(self, model: Any, inputs: Json, return_outputs: bool = False, num_items_in_batch: Any = None) -> Any:
            if "weights" not in inputs:
                return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
            weights = inputs.pop("weights")  # divided by `batch` mean rows already: the sum is the loss
            return super().compute_loss(weighed(model, weights), inputs, return_outputs, weights.new_ones(()))

    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_list(given).select(order),
        processing_class=tokenizer,
        callbacks=[Log(note)],
    )
    if task.machine.get("share_prompts", True) and share_prompts(trainer.model):
        trainer.data_collator = Collator()
    elif "weights" in given[0]:
        trainer.data_collator = Weights(trainer.data_collator)
    fit(trainer, task, tokenizer)


def weighed(model: Any, weights: Any) -> Callable[..., Any]:
    """`model` with the log-probability of each label multiplied by its weight."""

    def forward(**given: Any) -> Any:
        found = model(**given)
        found.log_probs = found.log_probs * weights
        return found

    return forward


class Weights:
    """A collator of padded rows that also gives their `weights`, (B, T - 1): those of the tokens behind the first."""

    def __init__(self, collator: Callable[[list[Json]], Json]):
        self._collator = collator

    def __call__(self, rows: list[Json]) -> Json:
        import torch

        batch = self._collator(rows)
        weights = torch.zeros(batch["input_ids"].shape)
        for at, row in enumerate(rows):
            weights[at, : len(row["weights"])] = weights.new_tensor(row["weights"])
        return {**batch, "weights": weights[:, 1:]}


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
        if ("weights" in row) != ("weights" in rows[0]):
            raise StepError(f"row {place}: either every row has weights, or none has")
        _check_weights(place, row)
    return rows


def _check_weights(place: int, row: Json) -> None:
    weights, count = row.get("weights"), len(row["input_ids"])
    if weights is None:
        return
    if len(weights) != count or not all(math.isfinite(weight) and weight >= 0 for weight in weights):
        raise StepError(f"row {place} has {count} tokens and {len(weights)} weights, which must be finite and not negative")
    if not any(weight for weight, label in zip(weights, row["labels"]) if label != IGNORED):
        raise StepError(f"row {place}: no token that is trained has a weight")


def scaled(rows: list[Json], batch: int) -> list[Json]:
    """`rows` with their weights divided by those of `batch` mean rows; without weights, as they are."""
    if "weights" not in rows[0]:
        return rows
    whole = batch * math.fsum(weight for row in rows for weight in row["weights"]) / len(rows)
    return [{**row, "weights": [weight / whole for weight in row["weights"]]} for row in rows]


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
