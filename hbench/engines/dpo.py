"""Preference optimisation on rejected and accepted responses of the same state, thin over TRL."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.training import Note, Task
from hbench.engines import trainable
from hbench.engines.mask import IGNORED
from hbench.engines.sft import order_of
from hbench.engines.shared_prompt import grouped, pack, share_prompts, spread
from hbench.engines.trainer_log import Log, batches, fit, trainer_arguments

if TYPE_CHECKING:
    import torch

REFERENCE = {"ref_chosen_logps": "accepted", "ref_rejected_logps": "rejected"}  # TRL's names -> ours
LOGGED = {
    "rewards/accuracies": "accuracy",
    "rewards/margins": "margin",
    "rewards/chosen": "accepted_reward",
    "rewards/rejected": "rejected_reward",
}


def train_dpo(task: Task, rows: Path, note: Note) -> None:
    """Trains on JSON Lines of {"accepted", "rejected"}, each {"input_ids", "labels"}; leaves task.folder/final. Each
    process calls it.

    An update's loss is the mean over its pairs of -log sigmoid(beta x (how much likelier the accepted response became -
    how much likelier the rejected one)), since training began: of a fresh adapter that is the base, else what is gone on
    from. Tokens without a label count in neither. No dropout, as in the paper of DPO. Raises StepError.
    """
    from datasets import Dataset
    from trl import DPOConfig

    recipe, given = task.recipe, read_pairs(rows)
    updates = recipe.get("updates") or max(1, round(recipe["epochs"] * len(given) / recipe["batch"]))
    model, tokenizer = trainable.load(task)
    arguments = DPOConfig(
        **trainer_arguments(task, updates),
        **batches(task, recipe["batch"]),
        beta=recipe["beta"],
        max_length=None,  # no response is cut
        precompute_ref_log_probs=True,
        remove_unused_columns=False,
        train_sampling_strategy="sequential",  # `order` says which pair comes when
    )
    trainer = _trainer_class()(
        order_of(range(len(given)), updates * recipe["batch"], task.seed),
        task.machine.get("share_prompts", True),
        model=model,
        args=arguments,
        data_collator=Pairs(tokenizer.pad_token_id),
        train_dataset=Dataset.from_list(given),
        processing_class=tokenizer,
        callbacks=[Log(note, LOGGED)],
    )
    fit(trainer, task, tokenizer)


def read_pairs(file: Path) -> list[Json]:
    """The pairs to train on. Raises StepError when there is none, or one that cannot be trained as it is."""
    with file.open(encoding="utf-8") as lines:
        pairs = [json.loads(line) for line in lines]
    if not pairs:
        raise StepError("there is no pair to train on")
    for place, pair in enumerate(pairs):
        for side in ("accepted", "rejected"):
            ids, labels = pair[side]["input_ids"], pair[side]["labels"]
            if len(labels) != len(ids) or all(label == IGNORED for label in labels[1:]):
                raise StepError(f"pair {place}, {side}: {len(ids)} tokens and {len(labels)} labels, none of which may be trained")
    return pairs


class Pairs:
    """A collator of pairs as TRL wants them: accepted rows, then rejected ones, padded on the right."""

    def __init__(self, pad: int):
        self._pad = pad

    def __call__(self, pairs: Sequence[Json]) -> dict[str, "torch.Tensor"]:
        import torch

        rows = [pair[side] for side in ("accepted", "rejected") for pair in pairs]
        longest = max(len(row["input_ids"]) for row in rows)

        def padded(values: Callable[[Json], list[int]], fill: int) -> "torch.Tensor":
            return torch.tensor([values(row) + [fill] * (longest - len(row["input_ids"])) for row in rows])

        batch = {
            "input_ids": padded(lambda row: row["input_ids"], self._pad),
            "attention_mask": padded(lambda row: [1] * len(row["input_ids"]), 0),
            "completion_mask": padded(lambda row: [int(label != IGNORED) for label in row["labels"]], 0),
        }
        known = {name: torch.tensor([pair[name] for pair in pairs]) for name in REFERENCE if name in pairs[0]}
        return {**batch, **known}


class Preferences:
    """Laid over TRL's DPOTrainer: rows come ready made, both responses are read behind one copy of what was seen before
    them, and what the base makes of them is asked once, before training."""

    def __init__(self, order: Sequence[int], share: bool, **given: Any):
        self._order, self._share, self.shares_prompts = order, share, False
        trained = {name for name, weight in given["model"].named_parameters() if weight.requires_grad}
        super().__init__(**given)
        if "ref" in getattr(self.model, "peft_config", {}):
            self.model.delete_adapter("ref")  # a copy of what training starts from; nobody asks it any more
        for name, weight in self.model.named_parameters():
            weight.requires_grad_(name in trained)  # switching adapters back and forth trains every layer

    def _prepare_dataset(self, dataset: Any, *_: Any) -> Any:
        return dataset

    def _precompute_ref_logps(self, dataset: Any, *_: Any) -> Any:
        """The pairs in the order of training, each with the log-probabilities that it has now. The processes share them."""
        from accelerate.utils import gather_object

        self.shares_prompts = self._share and share_prompts(self.model)
        size, processes = self.args.per_device_train_batch_size, self.accelerator.num_processes
        found: list[tuple[int, float, float]] = []
        for start in range(size * self.accelerator.process_index, len(dataset), size * processes):
            places = range(start, min(start + size, len(dataset)))
            batch = self._prepare_inputs(self.data_collator([dataset[place] for place in places]))
            scores = self.compute_ref_log_probs(self.model, batch)
            found += zip(places, *(each.tolist() for each in scores))
        found = sorted(gather_object(found))
        for column, name in enumerate(REFERENCE, 1):
            dataset = dataset.add_column(name, [one[column] for one in found])
        return dataset.select(self._order)

    def compute_ref_log_probs(self, model: Any, inputs: Any) -> Any:
        return super().compute_ref_log_probs(self._reading(model), inputs)

    def _compute_loss(self, model: Any, inputs: Any, return_outputs: bool) -> Any:
        return super()._compute_loss(self._reading(model), inputs, return_outputs)

    def _reading(self, model: Any) -> Any:
        return packed(model) if self.shares_prompts else model

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """None is wanted beside a checkpoint."""

    def _send_telemetry(self) -> None:
        """Nobody is told."""


def packed(model: Any) -> Callable[..., Any]:
    """`model`, which went through `share_prompts`, as TRL calls it: rows (2 B, T) of B pairs, those accepted first."""

    def forward(input_ids: Any, attention_mask: Any, labels: Any, **_: Any) -> Any:
        from trl.trainer.utils import FusedCausalLMOutput

        half, there = len(input_ids) // 2, attention_mask.bool()
        rows = [
            {"input_ids": ids[mask].tolist(), "labels": wanted[mask].tolist()}
            for ids, wanted, mask in zip(input_ids, labels, there)
        ]
        order = [row for pair in range(half) for row in (pair, pair + half)]
        batch = pack([grouped([rows[pair], rows[pair + half]]) for pair in range(half)])
        batch = {name: each.to(input_ids.device) for name, each in batch.items()}
        found, said = model(**batch, fused_lm_head=True), labels[:, 1:] != IGNORED
        laid = {
            name: spread(getattr(found, name), batch["shift_labels"], said, order)
            for name in ("log_probs", "entropy", "is_top1")
        }
        return FusedCausalLMOutput(**laid, mean_logits=laid["entropy"].new_zeros(said.shape), label_mask=said)

    return forward


def _trainer_class() -> type:
    from trl import DPOTrainer

    return type("PreferenceTrainer", (Preferences, DPOTrainer), {})
