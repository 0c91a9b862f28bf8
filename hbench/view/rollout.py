"""One rollout with everything that is recorded of it: grades, and each call with what was sent and what came back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hbench.core.digest import Json
from hbench.core.message import Message
from hbench.view.page import NotFound
from hbench.view.placed import Place, places
from hbench.view.reading import Asked

ABSENT = "(this text is not here: the bundle was exported without it)"


@dataclass(frozen=True)
class Call:
    """One event. row: its columns. messages: what a model was sent, in order; of a call that adds to the one before, the
    first `known` were sent before. sent, received: what other tools were sent, and what came back, as stored; None where
    the text is not there."""

    row: Mapping[str, Any]
    sent: str | None
    received: str | None
    messages: tuple[Message, ...] = ()
    known: int = 0

    @property
    def new(self) -> tuple[Message, ...]:
        return self.messages[self.known :]

    @property
    def code(self) -> int | None:
        """How a command ended; None for another call, or a command that ran out of time."""
        found = self.received_json
        return found.get("code") if self.row["kind"] == "execute" and isinstance(found, dict) else None

    @property
    def query(self) -> str | None:
        """What a search looked for."""
        found = _value(self.sent) if self.row["kind"] == "search" else None
        return f"{found['query']}" if isinstance(found, dict) and "query" in found else None

    @property
    def received_json(self) -> Json:
        """What came back as a value, where it is one; None for text."""
        return _value(self.received) if self.row["kind"] != "lm" else None


@dataclass(frozen=True)
class RolloutRecord:
    """row: the columns of rollouts, with the question's text, answer, family and meta (None where they are not there).

    output: what it printed; None for nothing. is_trajectory: it has turns.
    """

    row: Mapping[str, Any]
    kind: str
    places: tuple[Place, ...]
    grades: tuple[tuple[str, float], ...]
    calls: tuple[Call, ...]
    output: str | None
    is_trajectory: bool

    @property
    def is_silent(self) -> bool:
        """There are calls, and no word of any of them: a bundle without event_texts."""
        return bool(self.calls) and all(call.sent is None and call.received is None for call in self.calls)

    @property
    def unrecorded(self) -> int:
        """Calls that it made and whose rows are not there."""
        return max(0, (self.row["calls"] or 0) - len(self.calls))


def rollout(reading: Asked, step_key: str, candidate: int, question_id: str, repeat: int) -> RolloutRecord:
    """Raises NotFound."""
    key = [step_key, candidate, question_id, repeat]
    found = reading.rows(_ROLLOUT, key)
    if not found:
        raise NotFound(
            f"step {step_key[:8]} has no rollout of its candidate {candidate} on question {question_id}, repeat {repeat}"
        )
    row = found[0]
    grades = reading.query(f"select name, value from grades where {_KEY} order by name", key).rows
    return RolloutRecord(
        row=row,
        kind=row.pop("kind"),
        places=places(reading, [step_key])[step_key],
        grades=tuple(grades),
        calls=calls(reading, key),
        output=row.pop("output"),
        is_trajectory=row.pop("turns") is not None,
    )


_KEY = "step_key = ? and candidate = ? and question_id = ? and repeat = ?"
_ROLLOUT = """
select
  r.*,
  s.kind,
  t.turns,
  q.family,
  q.text as question,
  q.answer as gold,
  q.meta,
  printed.text as output
from (select * from rollouts where step_key = ? and candidate = ? and question_id = ? and repeat = ?) as r
left join steps as s using (step_key)
left join trajectories as t using (step_key, question_id, repeat)
left join questions as q using (question_id)
left join texts.texts as printed on printed.digest = r.output_digest
"""


def calls(reading: Asked, key: Sequence[Any]) -> tuple[Call, ...]:
    """Of one rollout, in order. key: step, candidate, question ('' for calls outside a rollout) and repeat."""
    return tuple(told(reading.rows(_CALLS, key)))


_CALLS = """
with mine as (select * from events where step_key = ? and candidate = ? and question_id = ? and repeat = ?),

told as (
  select digest, text
  from texts.texts
  where digest in (select sent_digest from mine union select received_digest from mine)
)
select
  mine.*,
  sent.text as sent,
  received.text as received
from mine
left join told as sent on sent.digest = mine.sent_digest
left join told as received on received.digest = mine.received_digest
order by position
"""


def told(rows: Sequence[dict[str, Any]]) -> Iterator[Call]:
    """Rows of events with their texts; a conversation that grows is put together again."""
    before: dict[str, tuple[Message, ...] | None] = {}
    for row in rows:
        sent, received = row.pop("sent"), row.pop("received")
        if row["kind"] != "lm":
            yield Call(row, sent, received)
            continue
        messages, known = _messages(sent, before.get(row["role"], ()))
        if messages is not None:
            before[row["role"]] = (*messages, Message("assistant", received or ""))
        yield Call(row, sent, received, messages or (), known)


def _messages(sent: str | None, before: tuple[Message, ...] | None) -> tuple[tuple[Message, ...] | None, int]:
    """What was sent, and how many messages of it the call before had. None where that cannot be told."""
    value = _value(sent)
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        known = value.get("after", 0)
        if before is None or not isinstance(known, int) or known > len(before):
            return _as_messages(value["messages"]), 0
        return (*before[:known], *_as_messages(value["messages"])), known
    if isinstance(value, list):
        return _as_messages(value), 0
    return None if sent is None else (Message("", sent),), 0


def _as_messages(value: list) -> tuple[Message, ...]:
    """What a harness sends is its own affair: what is no message is shown as it is."""
    return tuple(
        Message(str(each.get("role", "")), each["content"])
        if isinstance(each, dict) and isinstance(each.get("content"), str)
        else Message("", json.dumps(each, ensure_ascii=False))
        for each in value
    )


def _value(text: str | None) -> Json:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
