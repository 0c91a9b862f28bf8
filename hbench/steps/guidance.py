"""A bank translated into guidance K, which a reviewer alone will read (Harness-Zero, section 3)."""

import re
from collections.abc import Mapping
from typing import Any

from hbench.core import bank as banks
from hbench.core import guidance as kept
from hbench.core.action import EXECUTE, Tool
from hbench.core.digest import Json, derive_seed, text_digest
from hbench.core.failure import EditFailure, Failure, StepError
from hbench.core.harness import Harness
from hbench.core.message import Reply
from hbench.core.output import Artifact, Output
from hbench.core.prompt import frozen_prompt, render
from hbench.core.protocols import Services
from hbench.core.thinking import after_thinking
from hbench.parts.edits._files import read_file
from hbench.parts.part import build
from hbench.steps._well_formed import Answered, Asking, ask_until_read, call_rows
from hbench.steps.harness import harness_rows, harness_value
from hbench.steps.run_setting import model_ref, model_row

VERSION = 1
_PLACE = re.compile(r"(?<![\w.])/bank/|\$\{?BANK\b")
_EXECUTE = Tool(EXECUTE, "Run a shell command.", {"command": "the command"})


def guidance(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: writer (a model), prompt, domain (name and description), call (a call format's block), seed. inputs: `bank`.

    Each component that is switched on becomes one file: a tool recipes/NAME.md, a middleware checks/NAME.py, a skill
    advice/NAME.md, memory patterns.md. The writer has three tries for each; what it cannot write is left out. Value:
    harness (the guidance), missing (path -> what was wrong). Raises StepError for a bank with nothing to translate, when
    nothing could be translated, or when the writer gave no reply.
    """
    found = [each for each in banks.components(Harness(inputs["bank"].value["files"])) if each.enabled]
    if not found:
        raise StepError("the bank holds nothing to translate: review without guidance is `guidance: null`")
    model, seed = model_ref(params["writer"]), derive_seed(params["seed"], "guidance")
    prompt, call = frozen_prompt(params["prompt"]), build("calls", params["call"])
    shared = {"domain": params["domain"], "call": call.told([_EXECUTE])}
    asked = []
    for each in found:
        path = kept.path_of(each)
        told = {name: getattr(each, name) for name in ("path", "sort", "text")}
        values = {**shared, "component": told, "target": {"path": path, "sort": kept.sort_of(path)}}
        asked.append(Asking(tuple(render(prompt, values)), lambda reply, path=path: _file(reply, path)))
    answered = dict(zip((kept.path_of(each) for each in found), ask_until_read(model, asked, seed, services), strict=True))
    files = {path: one.value for path, one in answered.items() if one.failure is None}
    if not files:
        raise StepError(f"the writer translated none of {len(found)} components: {_why(next(iter(answered.values())).failure)}")
    made = Harness(files).tidied()
    rows = _rows(answered, model, made)
    rows["models"] = [model_row(model, services.engine(model))]
    missing = {path: _why(one.failure) for path, one in answered.items() if one.failure}
    return Output({"harness": harness_value(made), "missing": missing}, rows)


def _file(reply: Reply, path: str) -> str:
    """The file in a reply. Raises EditFailure where it is none, or speaks of what the student will not have."""
    if reply.truncated:
        raise EditFailure("parse", "truncated_response", "the response was cut at the token limit; write less")
    said = after_thinking(reply.text)
    if said is None:
        raise EditFailure("parse", "no_edit_blocks", "the thought was never closed, so there is no answer")
    text = read_file(said, path)
    if found := kept.file_problems(path, text):
        raise EditFailure("apply", "bad_component", "\n".join(found))
    if place := _PLACE.search(text):
        raise EditFailure("apply", "bad_component", f"it speaks of {place[0]}, and the student will have no such folder")
    return text


def _why(failure: Failure) -> str:
    return f"{failure.kind}: {failure.message}"


def _rows(answered: Mapping[str, Answered], model: Any, made: Harness) -> dict[str, list]:
    """Rows of harnesses, candidates (one a component), events and texts."""
    rows: dict[str, list] = {"harnesses": harness_rows(made), "candidates": [], "events": [], "texts": []}
    for number, (path, one) in enumerate(answered.items()):
        called = call_rows(one.calls, model)
        rows["events"] += [{**event, "candidate": number} for event in called["events"]]
        rows["texts"] += called["texts"]
        reply, failure = one.calls[-1][1], one.failure
        rows["candidates"].append(
            {
                "candidate": number,
                "parent_id": None,
                "harness_id": None if failure else made.id,
                "response_digest": text_digest(reply.text),
                "explanation": path,
                "outcome": failure.kind if failure else "applied",
                "parsed": failure is None or failure.boundary != "parse",
                "applied": failure is None,
                "boundary": failure.boundary if failure else None,
                "error": failure.message if failure else None,
                "finish_reason": reply.finish_reason,
            }
        )
    rows["texts"] = list({row["digest"]: row for row in rows["texts"]}.values())
    return rows
