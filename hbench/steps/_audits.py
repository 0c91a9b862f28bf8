"""Whether a trajectory is what its rollout's own events show, and only what a student may do (Harness-Zero, audits)."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hbench.core.action import EXECUTE, Action, CallFailure, Tool
from hbench.core.digest import Json
from hbench.core.output import Artifact
from hbench.core.trajectory import Acted, BrokenTrajectory, Trajectory, Turn, conversation_json
from hbench.steps._acted_rows import STUDENT

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass
class Record:
    """What the events of one rollout show of the student. asked: the messages of each call. said: each reply.

    commands: what the workspace ran.
    """

    asked: list[list[Json]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


def records(made: Artifact) -> dict[tuple[str, int], Record]:
    """(question id, repeat) -> its record, from the events of an act step."""
    events = [event for event in made.rows("events") if event["role"] == STUDENT]
    wanted = {event[name] for event in events for name in ("sent_digest", "received_digest")}
    texts = {row["digest"]: row["text"] for row in made.rows("texts") if row["digest"] in wanted}
    found: dict[tuple[str, int], Record] = {}
    for event in sorted(events, key=lambda event: event["position"]):
        record = found.setdefault((event["question_id"], event["repeat"]), Record())
        _add(record, event, texts)
    return found


def _add(record: Record, event: Mapping[str, Any], texts: Mapping[str, str]) -> None:
    sent = texts[event["sent_digest"]]
    if event["kind"] == "execute":
        record.commands.append(sent)
    elif event["kind"] == "lm":
        told = json.loads(sent)
        if isinstance(told, dict):  # only what is new; before it stands the call before, and its reply
            before = [*record.asked[-1], {"role": "assistant", "content": record.said[-1]}]
            told = [*before[: told["after"]], *told["messages"]]
        record.asked.append(told)
        record.said.append(texts[event["received_digest"]])


def fault(acted: Acted, record: Record, call: Any, tools: Sequence[Tool], under_bank: bool = False) -> str | None:
    """One word for what is wrong with a trajectory; None where nothing is. tools: what its student could call. under_bank:
    under h*, whose middlewares may keep a call from being run.

    broken_history: a passed turn was changed, or the student was asked with something else than head, accepted responses
    and observations. unread_call, forbidden_action: an accepted response that could not be run. not_as_executed: something
    else was run than what was accepted. no_answer: it does not end with an answer that is there to read.
    """
    lived = acted.trajectory
    if not _as_lived(lived, record):
        return "broken_history"
    try:
        actions = [call.parse(turn.accepted, tools) for turn in lived.turns]
    except CallFailure as bad:
        return "forbidden_action" if bad.kind == "unknown_tool" else "unread_call"
    if any(action.tool != turn.tool or _unread(turn) for action, turn in zip(actions, lived.turns)):
        return "unread_call"
    if not _as_executed(actions, record.commands, under_bank):
        return "not_as_executed"
    return None if _answered(acted, actions) else "no_answer"


def _unread(turn: Turn) -> bool:
    """Whether nothing was done because it could not be read, also where it reads well: a message that was cut."""
    return turn.failure is not None and turn.failure.boundary == "parse"


def _as_lived(lived: Trajectory, record: Record) -> bool:
    try:
        lived.check()
    except BrokenTrajectory:
        return False
    asked = [conversation_json(lived.seen(place)) for place in range(len(lived.turns))]
    said = [turn.proposal for turn in lived.turns]
    return _stored(record.asked) == _stored(asked) and record.said == said


def _stored(asked: Iterable[Iterable[Json]]) -> list[list[tuple[str, str]]]:
    """As rows hold texts, inside JSON or not: NUL and lone surrogates stand as U+FFFD."""
    return [[(each["role"], _UNSTORABLE.sub("\ufffd", each["content"])) for each in messages] for messages in asked]


def _as_executed(actions: Iterable[Action], commands: Sequence[str], may_refuse: bool) -> bool:
    """Whether each call was run, in order, and nothing else. A call of a bank's tool is run by some command of h*."""
    rest = list(commands)
    for action in actions:
        if action.tool is None:
            continue
        if rest and (action.tool != EXECUTE or rest[0] == action.command):
            rest.pop(0)
        elif not may_refuse:
            return False
    return not rest


def _answered(acted: Acted, actions: Sequence[Action]) -> bool:
    """Whether the last turn is an answer with words, and the one that was graded."""
    turns = acted.trajectory.turns
    if not turns or turns[-1].observation is not None or actions[-1].tool is not None:
        return False
    return bool(actions[-1].text.strip()) and acted.rollout.answer == actions[-1].text
