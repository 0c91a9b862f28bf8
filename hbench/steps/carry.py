"""Which candidate of each edit context the next segment goes on from."""

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from hbench.core.digest import Json, derive_seed
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.steps._candidate_rows import chain_history
from hbench.steps.harness import harnesses_of

VERSION = 1


def carry(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: rule (best: the highest mean score, the earliest on ties; random: any that applied and ran), seed. inputs:
    `trained` (train_grpo, with its rows), `contexts` (the segment's).

    Value, for entry i of the contexts step: context_i = {"harness", "from_step_key", "from_candidate", "history"}, and its
    harness_i and history_i once more. Where nothing applied the context's own harness stays (from_candidate null); an entry
    that was left out has harness null.
    """
    told, made = inputs["contexts"].value, inputs["trained"]
    ran = _ran(made)
    harnesses = harnesses_of(made)
    value: dict[str, Json] = {}
    entries = {context["entry"]: context for context in told["contexts"]}
    for i in range(told["entries"]):
        chosen = _chosen(ran.get(entries[i]["position"], []), params, i) if i in entries else None
        one = _carried(chosen, entries.get(i), harnesses, made.key)
        value |= {f"context_{i}": one, f"harness_{i}": one["harness"], f"history_{i}": one["history"]}
    return Output(value)


def _ran(made: Artifact) -> dict[int, list[dict[str, Any]]]:
    """Context -> its candidates that applied and ran, in order, each with `score`: its mean over questions and repeats."""
    scores: dict[int, list[float]] = {}
    for row in made.rows("rollouts"):
        scores.setdefault(row["candidate"], []).append(row["score"])
    candidates = {row["candidate"]: row for row in made.rows("candidates")}
    found: dict[int, list[dict[str, Any]]] = {}
    for row in sorted(made.rows("completions"), key=lambda row: row["candidate"]):
        number = row["candidate"]
        own = scores.get(number if row["same_as"] is None else row["same_as"])
        if own and candidates[number]["applied"]:
            score = math.fsum(own) / len(own)
            found.setdefault(row["context"], []).append({**candidates[number], "score": score})
    return found


def _chosen(ran: Sequence[dict[str, Any]], params: Json, entry: int) -> dict[str, Any] | None:
    if not ran:
        return None
    if params["rule"] == "random":
        return random.Random(derive_seed(params["seed"], entry)).choice(ran)
    return max(ran, key=lambda one: (one["score"], -one["candidate"]))


def _carried(chosen: Json, context: Json, harnesses: Mapping[str, Json], made_by: str) -> Json:
    if chosen is None:
        kept = context["harness"] if context else None
        return {"harness": kept, "from_step_key": None, "from_candidate": None, "history": chain_history(None)}
    edit = {"explanation": chosen["explanation"] or "", "outcome": "applied", "message": ""}
    harness = harnesses[chosen["harness_id"]]
    history = chain_history(edit, chosen["score"])
    return {"harness": harness, "from_step_key": made_by, "from_candidate": chosen["candidate"], "history": history}
