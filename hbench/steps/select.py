"""The selection rule decides the next round's harness from parent and candidates (Harness learning, Eq. 4)."""

from collections.abc import Mapping
from dataclasses import replace

from hbench.core.digest import Json
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.core.scored import Scored
from hbench.parts.part import build

VERSION = 1


def select(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """inputs: `parent` and `candidate_i` (evaluate), `edit_i` (what the proposer changed).

    Value: harness, chosen_id, parent_id, scores, kept_parent, slot (-1 for the parent), and `history`: the
    round as later reports show it.
    """
    parent = _scored(inputs["parent"].value, -1)
    slots = sorted(int(name.split("_")[1]) for name in inputs if name.startswith("candidate_"))
    candidates = [_candidate(inputs, i, parent) for i in slots]
    chosen = build("selections", params["rule"]).select(parent, candidates)
    if chosen.name == parent.name:
        chosen = parent  # by whatever way
    source = inputs["parent"] if chosen.position < 0 else inputs[f"candidate_{chosen.position}"]
    edits = [{**inputs[f"edit_{i}"].value, "slot": i, "score": inputs[f"candidate_{i}"].value["score"]} for i in slots]
    row = {
        "rule": params["rule"]["kind"],
        "parent_id": parent.name,
        "chosen_id": chosen.name,
        "parent_score": parent.score,
        "chosen_score": chosen.score,
        "kept_parent": chosen.position < 0,
    }
    history = {"parent_score": parent.score, "chosen_slot": chosen.position, "edits": edits}
    value = {**row, "slot": chosen.position, "harness": source.value["harness"], "history": history}
    return Output(value, {"selections": [row]})


def _candidate(inputs: Mapping[str, Artifact], slot: int, parent: Scored) -> Scored:
    """A candidate as the rule sees it. An explicit no-change stands with its parent's score: it says that nothing better is
    known, and a rule that takes the best candidate may take it. An edit that failed has none."""
    if inputs[f"edit_{slot}"].value["outcome"] == "no_change":
        return replace(parent, position=slot)
    return _scored(inputs[f"candidate_{slot}"].value, slot)


def _scored(value: Json, position: int) -> Scored:
    return Scored(
        name=value["harness_id"] or "",
        score=value["score"],
        questions=frozenset(value["question_ids"]),
        position=position,
        completion_rate=value["completion_rate"],
        tokens=float(value["tokens"]),
    )
