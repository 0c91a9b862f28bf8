"""Rollouts as rows of the tables rollouts, grades, events and texts, and back."""

from collections.abc import Iterable
from typing import Any

from hbench.core.digest import Json, spaced_text, text_digest
from hbench.core.failure import Failure
from hbench.core.protocols import Part
from hbench.core.rollout import Rollout, Usage


def rollout_rows(rollout: Rollout, grade: str, candidate: int = 0) -> dict[str, list[dict[str, Any]]]:
    """The rows of one rollout, by table. `grade` names the grade stored as `score`."""
    key = {"candidate": candidate, "question_id": rollout.question_id, "repeat": rollout.repeat}
    texts: dict[str, str] = {}
    events = [
        {**key, "position": i, **_event(event, texts)} for i, event in enumerate(rollout.events)
    ]
    output = _keep(rollout.output, texts) if rollout.output else None
    failure = rollout.failure
    row = {
        **key,
        "harness_id": rollout.harness_id,
        "answer": rollout.answer,
        "score": rollout.grade(grade),
        "completed": rollout.completed,
        "failure": failure.kind if failure else None,
        "boundary": failure.boundary if failure else None,
        "error": failure.message if failure else None,
        "output_digest": output,
        "calls": rollout.usage.calls,
        "prompt_tokens": rollout.usage.prompt_tokens,
        "completion_tokens": rollout.usage.completion_tokens,
        "seconds": rollout.usage.seconds,
    }
    return {
        "rollouts": [row],
        "grades": [{**key, "name": name, "value": value} for name, value in rollout.grades.items()],
        "events": events,
        "texts": [{"digest": d, "text": t} for d, t in texts.items()],
    }


def _event(event: Any, texts: dict[str, str]) -> dict[str, Any]:
    return {
        "kind": event.kind,
        "role": event.role,
        "model": event.model,
        "request_id": event.request_id,
        "reused": event.reused,
        "finish_reason": event.finish_reason,
        "prompt_tokens": event.prompt_tokens,
        "completion_tokens": event.completion_tokens,
        "seconds": event.seconds,
        "sent_digest": _keep(event.sent, texts),
        "received_digest": _keep(event.received, texts),
    }


def _keep(value: Json, texts: dict[str, str]) -> str:
    text = value if isinstance(value, str) else spaced_text(value)
    found = text_digest(text)
    texts[found] = text
    return found


def rollouts_from_rows(rows: Iterable[dict[str, Any]], grades: Iterable[dict[str, Any]]) -> list[Rollout]:
    """Rollouts without their events, as an earlier try of the same step wrote them."""
    values: dict[tuple[str, int], dict[str, float]] = {}
    for grade in grades:
        values.setdefault((grade["question_id"], grade["repeat"]), {})[grade["name"]] = grade["value"]
    return [_rollout(row, values.get((row["question_id"], row["repeat"]), {})) for row in rows]


def rollouts_by_candidate(part: Part) -> dict[int, list[Rollout]]:
    """Candidate number -> the rollouts that an earlier try of a step finished, without their events."""
    found: dict[str, dict[int, list[dict[str, Any]]]] = {"rollouts": {}, "grades": {}}
    for table, numbers in found.items():
        for row in part.rows(table):
            numbers.setdefault(row["candidate"], []).append(row)
    return {number: rollouts_from_rows(rows, found["grades"].get(number, ())) for number, rows in found["rollouts"].items()}


def _rollout(row: dict[str, Any], grades: dict[str, float]) -> Rollout:
    failure = Failure(row["boundary"], row["failure"], row["error"] or "") if row["failure"] else None
    usage = Usage(row["calls"], row["prompt_tokens"], row["completion_tokens"], row["seconds"])
    return Rollout(
        row["harness_id"], row["question_id"], row["repeat"], row["answer"], grades, row["completed"], failure, (), usage
    )
