"""The proposer reads a report and answers once with an edit; the edit is applied to the parent."""

from collections.abc import Mapping

from hbench.core.candidate import Candidate
from hbench.core.digest import Json
from hbench.core.harness import Harness
from hbench.core.message import Reply, Request
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.parts.part import build
from hbench.steps._candidate_rows import proposal_rows, told_edit
from hbench.steps._edit_prompt import edit_messages
from hbench.steps.harness import harness_value
from hbench.steps.run_setting import model_ref, model_row
from hbench.steps.trained import trained
from hbench.steps.trial import Response, revise

VERSION = 1


def propose(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """inputs: `report`, and `checkpoint` where the proposer was trained in this plan. Value: harness (null when the edit
    failed), parent, response, finish_reason, parsed, applied, failure, explanation, and `edit`, the short form that later
    reports show.

    Raises StepError when the model gave no reply: that is never a failed edit.
    """
    told = inputs["report"].value
    parent = Harness(told["harness"]["files"])
    proposer = trained(model_ref(params["proposer"]), inputs)
    messages = edit_messages(params["prompt"], params["family"], told["harness"], told["text"], params["edit"])
    request = Request(messages, proposer.sampling, params["seed"])
    reply = services.ask(proposer, [request])[0]
    candidate = revise(parent, Response(reply.text, reply.finish_reason), build("edits", params["edit"]))
    rows = proposal_rows(candidate, reply, request, proposer)
    rows["models"] = [model_row(proposer, services.engine(proposer))]
    return Output(_value(candidate, reply), rows)


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
        "edit": told_edit(candidate),
    }
