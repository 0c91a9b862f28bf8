"""The selection rule decides the next round's harness from parent and candidates (Harness learning, Eq. 4)."""

from collections.abc import Mapping

from hbench.core.digest import Json
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.parts.part import build
from hbench.steps._choosing import Round, round_value, selection_row, trial_of

VERSION = 2  # 2: the slot stands in its row, too


def select(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """inputs: `parent` and `candidate_i` (evaluate), `edit_i` (what the proposer changed).

    Value: harness, chosen_id, parent_id, parent_score, chosen_score, kept_parent, slot (-1 for the parent), and `history`:
    the round as later reports show it.
    """
    slots = sorted(int(name.split("_")[1]) for name in inputs if name.startswith("candidate_"))
    trials = {i: trial_of(inputs[f"candidate_{i}"]) for i in slots}
    told = Round(trial_of(inputs["parent"]), trials, {i: inputs[f"edit_{i}"].value for i in slots})
    row = selection_row(build("selections", params["rule"]), told)
    return Output(round_value(row, told), {"selections": [row]})
