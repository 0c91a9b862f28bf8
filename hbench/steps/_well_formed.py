"""A model asked until its answer can be read, and its calls as rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hbench.core.digest import Json, derive_seed, text_digest
from hbench.core.failure import EditFailure, Failure
from hbench.core.message import Message, Reply, Request
from hbench.core.model import ModelRef
from hbench.core.protocols import Services

TRIES = 3
Call = tuple[Request, Reply]


@dataclass(frozen=True, slots=True)
class Asking:
    """read: what the reply says; raises EditFailure where it cannot be read, and the model is told why."""

    messages: tuple[Message, ...]
    read: Callable[[Reply], Any]


@dataclass
class Answered:
    """value: what was read; None with a failure, the last one's. calls: in order, at most TRIES."""

    value: Any = None
    failure: Failure | None = None
    calls: list[Call] = field(default_factory=list)


def ask_until_read(model: ModelRef, asked: Sequence[Asking], seed: int, services: Services) -> list[Answered]:
    """What came of each, in order; those that could not be read are asked again together. Raises StepError without a reply."""
    found = [Answered() for _ in asked]
    todo = [(i, asking.messages) for i, asking in enumerate(asked)]
    for number in range(TRIES):
        requests = [Request(messages, model.sampling, derive_seed(seed, number)) for _, messages in todo]
        replies = services.ask(model, requests) if requests else []
        again = []
        for (i, messages), request, reply in zip(todo, requests, replies, strict=True):
            found[i].calls.append((request, reply))
            try:
                found[i].value, found[i].failure = asked[i].read(reply), None
            except EditFailure as bad:
                found[i].failure = bad.failure
                again.append((i, _told_again(messages, reply, bad.failure)))
        todo = again
    return found


def _told_again(messages: tuple[Message, ...], reply: Reply, failure: Failure) -> tuple[Message, ...]:
    told = f"That cannot be taken: {failure.message or failure.kind}\nAnswer again, in full."
    return (*messages, Message("assistant", reply.text), Message("user", told))


def call_rows(calls: Sequence[Call], model: ModelRef, first: int = 0, question_id: str = "") -> dict[str, list[dict[str, Json]]]:
    """Rows of the tables events and texts. first: position of the first call among the step's for that question."""
    events, texts = [], {}
    for position, (request, reply) in enumerate(calls, first):
        sent = "\n\n".join(f"[{m.role}]\n{m.content}" for m in request.messages)
        texts |= {text_digest(sent): sent, text_digest(reply.text): reply.text}
        told = {name: getattr(reply, name) for name in ("finish_reason", "prompt_tokens", "completion_tokens", "seconds")}
        events.append(
            {
                "question_id": question_id,
                "position": position,
                "kind": "lm",
                "role": model.role,
                "model": model.digest[:16],
                "request_id": request.id(model.identity),
                "reused": reply.reused,
                "sent_digest": text_digest(sent),
                "received_digest": text_digest(reply.text),
                **told,
            }
        )
    return {"events": events, "texts": [{"digest": digest, "text": text} for digest, text in texts.items()]}
