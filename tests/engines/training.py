"""Small real training tasks: a tiny model, a few rows, an adapter that changes something."""

import json
from pathlib import Path

from hbench.core.model import ModelRef
from hbench.core.training import Task
from hbench.engines import trainable
from tests.engines.tiny_model import save_tiny

LORA = {"rank": 4, "alpha": 8, "dropout": 0.0, "targets": "all-linear", "from_layer": None}
RECIPE = {
    "epochs": 3.0,
    "updates": None,
    "batch": 4,
    "learning_rate": 1e-2,
    "warmup": 2,
    "schedule": "linear",
    "floor": 0.1,
    "max_length": 64,
    "clip": 1.0,
    "weight_decay": 0.0,
    "lora": LORA,
}


def tiny_ref(folder: Path, dtype: str = "float32", **identity) -> ModelRef:
    """A tiny model saved in `folder`."""
    if not folder.exists():
        save_tiny(folder)
    return ModelRef("proposer", "tiny", {"weights": str(folder), "dtype": dtype, **identity})


def task(ref: ModelRef, folder: Path, machine: dict | None = None, lora: dict | None = LORA, **recipe) -> Task:
    machine = {"micro_batch": 2, "save_every": 2, "threads": 1, **(machine or {})}
    return Task(ref, {**RECIPE, "lora": lora, **recipe}, 3, folder, machine=machine)


def write_rows(file: Path, groups: int = 5, copies: int = 2) -> Path:
    """Rows of the tiny model's tokens, `copies` to a prompt; answers of 4 or 7 tokens."""
    with file.open("w", encoding="utf-8") as out:
        for group in range(groups):
            for copy in range(copies):
                prompt, answer = [2, *[4 + group] * 4, 3], [*[10 + group, 11 + copy, 12] * (1 + group % 2), 0]
                row = {"input_ids": prompt + answer, "labels": [-100] * len(prompt) + answer, "group": group}
                out.write(json.dumps(row) + "\n")
    return file


def stirred(ref: ModelRef, folder: Path, lora: dict | None = LORA) -> tuple[object, ModelRef]:
    """(a model whose trained weights are no longer those of its base, a ref to the checkpoint of it in `folder`)."""
    import torch

    torch.manual_seed(1)
    model, tokenizer = trainable.load(task(ref, folder, lora=lora))
    with torch.no_grad():
        for weight in model.parameters():
            if weight.requires_grad:
                weight.add_(torch.randn_like(weight) * 0.1).copy_(weight.bfloat16().float())
    trainable.save(model.eval(), tokenizer, folder, ref.identity["weights"])
    return model, ref.trained(trainable.checkpoint_json(ref, folder), folder)


def logits(model) -> "torch.Tensor":  # noqa: F821
    import torch

    with torch.no_grad():
        return model(torch.tensor([[2, 5, 6, 7, 3]])).logits.float()
