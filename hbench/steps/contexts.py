"""Edit contexts, a proposer's training inputs: for each its family, parent harness and report."""

from collections.abc import Mapping

from hbench.core.digest import Json
from hbench.core.harness import Harness
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.steps.harness import harness_rows

VERSION = 1


def contexts(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: {"entries": [{"family", "description", "chain", "depth", "parent": seed, stronger or carried}]}.

    inputs: `report_i` of entry i, and `from_i` (carry's field context_i) where its parent was made in training. An entry
    without a parent (there was no stronger one) is left out and counted. Value: contexts, each with its position from 0 and
    its entry; dropped; entries, how many there were; families, the names of all.
    """
    entries, made, rows = params["entries"], [], {}
    for i, entry in enumerate(entries):
        told = inputs[f"report_{i}"]
        harness = told.value["harness"]
        if harness is not None:
            context = {"position": len(made), "entry": i, **entry, "harness": harness, "report": told.value["text"]}
            made.append(context)
            origin = inputs[f"from_{i}"].value if f"from_{i}" in inputs else {}
            rows.setdefault("edit_contexts", []).append(_row(context, told.key, origin))
            rows.setdefault("harnesses", []).extend(harness_rows(Harness(harness["files"])))
    names = list(dict.fromkeys(entry["family"] for entry in entries))
    value = {"contexts": made, "dropped": len(entries) - len(made), "entries": len(entries), "families": names}
    return Output(value, rows)


def _row(context: Json, report_key: str, origin: Json) -> dict[str, Json]:
    return {
        "position": context["position"],
        "family": context["family"],
        "harness_id": context["harness"]["id"],
        "report_key": report_key,
        "chain": context["chain"],
        "depth": context["depth"],
        "from_step_key": origin.get("from_step_key"),
        "from_candidate": origin.get("from_candidate"),
    }
