"""One round of evolution: what went wrong in training rollouts changes the bank of components (Harness-Zero, section 3)."""

from collections.abc import Mapping

from hbench.core import bank as banks
from hbench.core.digest import Json, text_digest
from hbench.core.harness import Harness
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.steps._evolve_by_model import Proposed, proposed_by_model
from hbench.steps._evolve_changes import Revised, change_rows, component_rows, revised, settled
from hbench.steps._evolve_outside import proposed_outside
from hbench.steps._evolve_traces import failed_traces, helped
from hbench.steps.harness import harness_rows, harness_value
from hbench.steps.run_setting import model_ref, model_row

VERSION = 1


def evolve(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: evolver (a model, or {"kind": "command", "command", "wall_s"}), notes and prompt (prompts), domain (name and
    description), round, seed. inputs: `acted`, training rollouts under the bank as it is; `bank`, without which it is empty;
    `components` of the round before.

    At most 60 still failed questions are looked at. Every change names a question whose trace is among them, or it is
    refused; so is one that is no component. What had no part in a solved question for two rounds goes; so, when all is
    solved, nothing but that happens. Value: harness (the bank), components (path -> rounds without benefit), notes,
    changes (path, action, cites, why, outcome, message), dropped, failed (questions looked at), failure of an answer that
    could not be read: then the bank stays.

    Raises StepError when the evolver gave no answer: that is never a bank.
    """
    bank = Harness(inputs["bank"].value["files"] if "bank" in inputs else {}).tidied()
    idle = inputs["components"].value if "components" in inputs else {}
    traces = failed_traces(inputs["acted"], params["seed"])
    told = [_told(each, idle) for each in banks.components(bank)]
    outside = params["evolver"].get("kind") == "command"
    if not traces:
        proposed = Proposed()
    elif outside:
        proposed = proposed_outside(params, bank, told, traces, services)
    else:
        proposed = proposed_by_model(params, told, traces, services)
    made, tried = revised(bank, proposed.changes, {trace.question_id for trace in traces})
    ran = bool(inputs["acted"].value["questions"])
    end = settled(bank, idle, helped(inputs["acted"]), made, tried) if ran else Revised(made, tuple(tried), idle, {})
    rows = _rows(bank, end, proposed)
    if traces and not outside:
        model = model_ref(params["evolver"])
        rows["models"] = [model_row(model, services.engine(model))]
    return Output(_value(end, proposed, [trace.question_id for trace in traces]), rows)


def _told(component: banks.Component, idle: Mapping[str, int]) -> Json:
    """A component as prompts are told of it."""
    found = {name: getattr(component, name) for name in ("path", "text", "enabled")}
    return {**found, "idle": idle.get(component.path, 0)}


def _rows(before: Harness, end: Revised, proposed: Proposed) -> dict[str, list]:
    rows = {"harnesses": harness_rows(end.bank), "bank_components": component_rows(before, end)}
    rows |= change_rows(before, end)
    more = proposed.rows or {"events": [], "texts": []}
    rows["events"] = more["events"]
    rows["texts"] += more["texts"]
    if proposed.failure:
        rows["candidates"].append(_unread(before, proposed, len(end.tried)))
    if proposed.said:
        rows["texts"].append({"digest": text_digest(proposed.said), "text": proposed.said})
    rows["texts"] = list({row["digest"]: row for row in rows["texts"]}.values())
    return rows


def _unread(before: Harness, proposed: Proposed, number: int) -> dict[str, Json]:
    """The row of an answer, or a folder, that could not be read."""
    failure = proposed.failure
    return {
        "candidate": number,
        "parent_id": before.id,
        "harness_id": None,
        "response_digest": text_digest(proposed.said) if proposed.said else None,
        "explanation": "",
        "outcome": failure.kind,
        "parsed": False,
        "applied": False,
        "boundary": failure.boundary,
        "error": failure.message,
        "finish_reason": "stop",
    }


def _value(end: Revised, proposed: Proposed, looked_at: list[str]) -> Json:
    changes = [
        {
            "path": one.change.path,
            "action": one.change.action,
            "cites": list(one.cites),
            "why": one.change.why,
            "outcome": one.failure.kind if one.failure else "applied",
            "message": one.failure.message if one.failure else "",
        }
        for one in end.tried
    ]
    failure = proposed.failure
    return {
        "harness": harness_value(end.bank),
        "components": dict(end.idle),
        "notes": list(proposed.notes),
        "changes": changes,
        "dropped": sorted(end.dropped),
        "failed": looked_at,
        "failure": {"kind": failure.kind, "message": failure.message} if failure else None,
    }
