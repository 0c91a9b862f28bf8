"""Trajectories as a rollout would leave them, with the events that show it, made by hand."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hbench.core.action import EXECUTE, EXECUTE_TOOL, Action, CallFailure, Tool
from hbench.core.digest import Json, digest
from hbench.core.failure import Failure
from hbench.core.message import Message
from hbench.core.output import Artifact
from hbench.core.rollout import Event, Rollout
from hbench.core.trajectory import Acted, Span, Trajectory, Turn, conversation_json
from hbench.parts.calls.fenced import Fenced
from hbench.steps._acted_rows import acted_rows
from hbench.store.rows import admit, encode, whole

CALL = Fenced(kind="fenced")
TARGET = {"call": CALL.to_json()}
HEAD = (Message("system", "You work in a shell."), Message("user", "Sort names.txt."))


@dataclass(frozen=True)
class Say:
    """One turn. instead: what a reviewer put in its place; None for a pass. told: the observation; None behind the answer."""

    proposal: str
    instead: str | None = None
    told: str | None = "done"
    hidden: tuple[Span, ...] = ()
    reason: str = ""
    cut: bool = False  # the proposal ended at the limit of tokens


def bash(command: str, said: str = "") -> str:
    return (f"{said}\n\n" if said else "") + f"```bash\n{command}\n```"


ANSWER = Say("Sorted.", told=None)


def lived(*turns: Say, question: str = "q", repeat: int = 0, score: float = 1.0, tools: Sequence[Tool] = (EXECUTE_TOOL,)) -> Acted:
    """A rollout that went so. Its last turn is its answer where it has no observation."""
    made, events, action = [], [], None
    for say in turns:
        seen = Trajectory(question, repeat, HEAD, tuple(made)).seen(len(made))
        events.append(Event("lm", conversation_json(seen), say.proposal, role="student", finish_reason="length" if say.cut else "stop"))
        accepted = say.proposal if say.instead is None else say.instead
        action, failure = _read(accepted, tools)
        if action and action.tool:
            command = action.command if action.tool == EXECUTE else f"python3 /bank/tools/{action.tool}.py"
            events.append(Event("execute", command, {"output": say.told, "code": 0}, role="student"))
        verdict = "pass" if say.instead is None else "replace"
        observation = None if say.told is None else CALL.observation(say.told)
        tool = action.tool if action else None
        made.append(Turn(say.proposal, verdict, accepted, observation, tool, failure, say.hidden, say.reason))
    done = bool(made) and made[-1].observation is None
    answer = action.text if done and action else None
    rollout = Rollout("h", question, repeat, answer, {"score": score}, done, events=tuple(events))
    return Acted(rollout, Trajectory(question, repeat, HEAD, tuple(made)))


def _read(text: str, tools: Sequence[Tool]) -> tuple[Action | None, Failure | None]:
    try:
        return CALL.parse(text, tools), None
    except CallFailure as bad:
        return None, Failure("parse", bad.kind, bad.message)


def act_artifact(*acted: Acted) -> Artifact:
    """What an act step would have left of these rollouts."""
    rows: dict[str, list[dict]] = {}
    for one in acted:
        for table, some in acted_rows(one, "score", "toy").items():
            rows.setdefault(table, []).extend(some)
    rows = json.loads(encode(admit(rows)))
    value = {"questions": list(dict.fromkeys(one.rollout.question_id for one in acted))}
    return artifact(value, lambda table: [whole(table, row) for row in rows.get(table, ())])


def artifact(value: Json, rows: Any = lambda table: [], folder: Path = Path()) -> Artifact:
    return Artifact(digest(value), value, digest(value), folder, rows)
