"""A candidate as rows of the tables candidates and reward_terms, and in the short form that later reports show."""

from collections.abc import Mapping
from typing import Any

from hbench.core.candidate import Candidate
from hbench.core.digest import Json, text_digest
from hbench.core.message import Reply, Request
from hbench.core.model import ModelRef
from hbench.core.protocols import RewardTerm
from hbench.steps.harness import harness_rows

Rows = dict[str, list[dict[str, Any]]]


def candidate_rows(candidate: Candidate, finish_reason: str, number: int = 0, **usage: Json) -> Rows:
    """usage: prompt_tokens, completion_tokens and seconds, where they are known. Its rollouts are not among the rows."""
    failure = candidate.failure
    found = text_digest(candidate.response)
    row = {
        "candidate": number,
        "parent_id": candidate.parent.id,
        "harness_id": candidate.harness.id if candidate.harness else None,
        "response_digest": found,
        "explanation": candidate.explanation,
        "outcome": failure.kind if failure else "applied",
        "parsed": candidate.parsed,
        "applied": candidate.applied,
        "boundary": failure.boundary if failure else None,
        "error": failure.message if failure else None,
        "finish_reason": finish_reason,
        **usage,
    }
    return {
        "candidates": [row],
        "harnesses": harness_rows(candidate.harness) if candidate.harness else [],
        "texts": [{"digest": found, "text": candidate.response}],
    }


def proposal_rows(candidate: Candidate, reply: Reply, request: Request, asked: ModelRef, number: int = 0) -> Rows:
    """The same for a candidate whose proposer was asked: with that call as an event."""
    told = {name: getattr(reply, name) for name in ("finish_reason", "prompt_tokens", "completion_tokens", "seconds")}
    rows = candidate_rows(candidate, number=number, **told)
    sent = "\n\n".join(f"[{m.role}]\n{m.content}" for m in request.messages)
    event = {
        "candidate": number,
        "position": 0,
        "kind": "lm",
        "role": asked.role,
        "model": asked.digest[:16],
        "request_id": request.id(asked.identity),
        "reused": reply.reused,
        "sent_digest": text_digest(sent),
        "received_digest": text_digest(candidate.response),
        **told,
    }
    texts = {text["digest"]: text for text in (*rows["texts"], {"digest": text_digest(sent), "text": sent})}
    return {**rows, "events": [event], "texts": list(texts.values())}


def told_edit(candidate: Candidate) -> Json:
    """{"explanation", "outcome", "message"}: what later reports say of it."""
    failure = candidate.failure
    return {
        "explanation": candidate.explanation,
        "outcome": failure.kind if failure else "applied",
        "message": failure.message if failure else "",
    }


def chain_history(edit: Json | None, score: float | None = None) -> Json:
    """One round of a chain as select tells its rounds: the edit that was taken up, and its score; None: none was."""
    edits = [{**edit, "slot": 0, "score": score}] if edit else []
    return {"parent_score": None, "chosen_slot": 0 if edit else -1, "edits": edits}


def term_rows(values: Mapping[str, float], terms: Mapping[str, RewardTerm], number: int = 0) -> list[dict[str, Any]]:
    """Rows of table reward_terms."""
    return [
        {"candidate": number, "term": name, "value": value, "weight": terms[name].weight} for name, value in values.items()
    ]
