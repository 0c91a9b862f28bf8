"""Which trajectories become training rows: whole, honest, and let through by every filter."""

from collections import Counter
from collections.abc import Mapping

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.output import Artifact, Output
from hbench.core.private import TAGS, private
from hbench.core.protocols import Services
from hbench.parts.part import build
from hbench.steps._acted_rows import acted_from_rows
from hbench.steps._audits import Record, fault, records
from hbench.steps._kept import student_tools, told

VERSION = 2


def keep_trajectories(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: filters (blocks, asked in order), target. inputs: `acted`; `guidance` where a reviewer read some, `bank`
    where the student acted under h*.

    First every trajectory is audited against its own events (_audits.fault), then the filters are asked; the first word
    against it is its drop_reason, a row of kept_trajectories. Value: kept ([[question id, repeat]]), asked, dropped (reason
    -> how many), told, turns and replaced of those kept, template_tools (what their chat template was given). Raises
    StepError when nothing is kept.
    """
    made, call = inputs["acted"], build("calls", params["target"]["call"])
    tools = student_tools(_harness(inputs, "bank"))
    guidance = _harness(inputs, "guidance")
    secret = private(guidance) if guidance else TAGS
    filters = [build("filters", block) for block in params["filters"]]
    seen, kept, dropped, rows = records(made), [], Counter(), []
    for one in acted_from_rows(made):
        key = (one.rollout.question_id, one.rollout.repeat)
        reason = fault(one, seen.get(key, Record()), call, tools, "bank" in inputs)
        reason = reason or next(filter(None, (each.reason_to_drop(one, secret) for each in filters)), None)
        rows.append({"question_id": key[0], "repeat": key[1], "kept": reason is None, "drop_reason": reason})
        if reason is None:
            kept.append(one)
        else:
            dropped[reason] += 1
    if not kept:
        raise StepError(f"none of {len(rows)} trajectories is kept: {told(dropped) or 'there are none'}")
    value = {
        "kept": [[one.rollout.question_id, one.rollout.repeat] for one in kept],
        "asked": len(rows),
        "dropped": dict(sorted(dropped.items())),
        "told": told(dropped),
        "turns": sum(len(one.trajectory.turns) for one in kept),
        "replaced": sum(one.trajectory.replaced for one in kept),
        "template_tools": call.template_tools(tools),
    }
    return Output(value, {"kept_trajectories": rows})


def _harness(inputs: Mapping[str, Artifact], name: str) -> Harness | None:
    return Harness(inputs[name].value["files"]) if name in inputs else None
