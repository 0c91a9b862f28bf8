"""Kept demonstrations as token rows: what a proposer reads carries no loss, what it should have said does."""

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.steps._edit_prompt import context_messages
from hbench.steps.run_setting import model_ref

VERSION = 1
FILE = "rows.jsonl"
NO_LOSS = -100


def sft_rows(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: model (the proposer), prompts, edit, max_length, seed (order of the groups). inputs: `keep`, `contexts`.

    File rows.jsonl: {"input_ids", "labels", "group"} a line; rows of one group share their prompt and stand together. A row
    of more than max_length tokens is dropped, never cut, and so is one without a trained token. Value: rows, dropped (reason
    -> how many), told ("1 of 2 dropped: …", "" for none), tokens, trained_tokens, longest, file. Raises StepError when all
    are dropped, and for a chat template that would shift the labels.
    """
    contexts = {context["position"]: context for context in inputs["contexts"].value["contexts"]}
    kept, prompts = inputs["keep"].value["kept"], params["prompts"]
    talks = []
    for one in kept:
        messages = context_messages(prompts[one["prompt"]], contexts[one["context"]], params["edit"])
        talks.append(([message.to_json() for message in messages], one["response"]))
    rows, dropped = [], Counter()
    for one, (ids, labels) in zip(kept, services.tokenise(model_ref(params["model"]), talks), strict=True):
        if fault := _fault(ids, labels, params["max_length"]):
            dropped[fault] += 1
        else:
            group = one["context"] * len(prompts) + one["prompt"]
            rows.append({"input_ids": list(ids), "labels": list(labels), "group": group})
    told = f"{dropped.total()} of {len(kept)} dropped: {_listed(dropped)}" if dropped else ""
    if not rows:
        raise StepError(f"no training row is left; {told}")
    file = services.part.folder / "sft" / FILE
    _write(file, _in_groups(rows, params["seed"]))
    return Output(
        {
            "rows": len(rows),
            "dropped": dict(sorted(dropped.items())),
            "told": told,
            "tokens": sum(len(row["input_ids"]) for row in rows),
            "trained_tokens": sum(label != NO_LOSS for row in rows for label in row["labels"]),
            "longest": max(len(row["input_ids"]) for row in rows),
            "file": FILE,
        },
        files={FILE: file},
    )


def _fault(ids: Sequence[int], labels: Sequence[int], longest: int) -> str | None:
    if all(label == NO_LOSS for label in labels[:longest]):
        return "no trained tokens" + (f" within {longest}" if len(ids) > longest else "")
    return f"longer than {longest} tokens" if len(ids) > longest else None


def _listed(dropped: Mapping[str, int]) -> str:
    if len(dropped) == 1:
        return next(iter(dropped))
    return ", ".join(f"{reason} ({count})" for reason, count in sorted(dropped.items()))


def _in_groups(rows: Sequence[Json], seed: int) -> list[Json]:
    """Groups in an order drawn by `seed`, each in its own order: neighbours in the file are of different families."""
    groups: dict[int, list[Json]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    order = list(groups.values())
    random.Random(seed).shuffle(order)
    return [row for group in order for row in group]


def _write(file: Path, rows: Sequence[Json]) -> None:
    file.parent.mkdir(exist_ok=True)
    with file.open("w") as lines:
        lines.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
