"""The selection rule decides the next round's harness from parent and candidates (Harness learning, Eq. 4)."""

from collections.abc import Mapping

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
    candidates = [_scored(inputs[f"candidate_{i}"].value, i) for i in slots]
    chosen = build("selections", params["rule"]).select(parent, candidates)
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


def _scored(value: Json, position: int) -> Scored:
    return Scored(
        name=value["harness_id"] or "",
        score=value["score"],
        questions=frozenset(value["question_ids"]),
        position=position,
        completion_rate=value["completion_rate"],
        tokens=float(value["tokens"]),
    )
