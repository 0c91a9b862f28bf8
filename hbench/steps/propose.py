"""The proposer reads a report and answers once with an edit; the edit is applied to the parent."""

from collections.abc import Mapping

from hbench.core.candidate import Candidate
from hbench.core.digest import Json, text_digest
from hbench.core.harness import Harness
from hbench.core.message import Reply, Request
from hbench.core.output import Artifact, Output
from hbench.core.prompt import frozen_prompt, render
from hbench.core.protocols import Services
from hbench.parts.part import build
from hbench.steps.harness import harness_rows, harness_value
from hbench.steps.run_setting import model_ref, model_row
from hbench.steps.trial import Response, revise

VERSION = 1


def propose(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """inputs: `report`. Value: harness (null when the edit failed), parent, response, finish_reason, parsed, applied,
    failure, explanation, and `edit`, the short form that later reports show.

    Raises StepError when the model gave no reply: that is never a failed edit.
    """
    told = inputs["report"].value
    parent = Harness(told["harness"]["files"])
    proposer = model_ref(params["proposer"])
    request = Request(_messages(params, told), proposer.sampling, params["seed"])
    reply = services.ask(proposer, [request])[0]
    candidate = revise(parent, Response(reply.text, reply.finish_reason), build("edits", params["edit"]))
    rows = _rows(candidate, reply, request, proposer)
    rows["models"] = [model_row(proposer, services.engine(proposer))]
    return Output(_value(candidate, reply), rows)


def _messages(params: Json, told: Json) -> tuple:
    prompt = frozen_prompt(params["prompt"])
    values = {
        "family": params["family"],
        "harness": told["harness"]["files"]["harness.py"],
        "report": told["text"],
        "edit": params["edit"],
    }
    return tuple(render(prompt, values))


def _value(candidate: Candidate, reply: Reply) -> Json:
    failure = candidate.failure
    failed = {"boundary": failure.boundary, "kind": failure.kind, "message": failure.message} if failure else None
    return {
        "harness": harness_value(candidate.harness) if candidate.harness else None,
        "parent": harness_value(candidate.parent),
        "response": candidate.response,
        "finish_reason": reply.finish_reason,
        "explanation": candidate.explanation,
        "failure": failed,
        "parsed": candidate.parsed,
        "applied": candidate.applied,
        "edit": {
            "explanation": candidate.explanation,
            "outcome": failure.kind if failure else "applied",
            "message": failure.message if failure else "",
        },
    }


def _rows(candidate: Candidate, reply: Reply, request: Request, proposer) -> dict[str, list[dict[str, Json]]]:
    failure = candidate.failure
    sent = "\n\n".join(f"[{m.role}]\n{m.content}" for m in request.messages)
    row = {
        "candidate": 0,
        "parent_id": candidate.parent.id,
        "harness_id": candidate.harness.id if candidate.harness else None,
        "response_digest": text_digest(candidate.response),
        "explanation": candidate.explanation,
        "outcome": failure.kind if failure else "applied",
        "parsed": candidate.parsed,
        "applied": candidate.applied,
        "boundary": failure.boundary if failure else None,
        "error": failure.message if failure else None,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "seconds": reply.seconds,
    }
    texts = {text_digest(t): t for t in (candidate.response, sent)}
    event = {
        "position": 0,
        "kind": "lm",
        "role": proposer.role,
        "model": proposer.digest[:16],
        "request_id": request.id(proposer.identity),
        "reused": reply.reused,
        "sent_digest": text_digest(sent),
        "received_digest": text_digest(candidate.response),
        **{name: row[name] for name in ("finish_reason", "prompt_tokens", "completion_tokens", "seconds")},
    }
    return {
        "candidates": [row],
        "events": [event],
        "harnesses": harness_rows(candidate.harness) if candidate.harness else [],
        "texts": [{"digest": d, "text": t} for d, t in texts.items()],
    }
