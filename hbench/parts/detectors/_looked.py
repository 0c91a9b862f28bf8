"""What detectors look at: the commands that a student ran, and what they printed, cut to a length."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hbench.core.rollout import Event
from hbench.core.trajectory import Acted
from hbench.parts.detectors._pattern import LONGEST

STUDENT = "student"  # the role whose commands are looked at


@dataclass(frozen=True, slots=True)
class Command:
    """One command as it was executed. worked: it ended with exit code 0."""

    text: str
    output: str
    worked: bool


def commands(acted: Acted) -> tuple[Command, ...]:
    """What the workspace ran for the student, in order; under h* a call of a bank's tool is the command that runs its file.

    Those of a sub-agent are not among them, nor is what an agent from outside ran: nobody saw it. Texts are cut.
    """
    return tuple(_command(event) for event in ran(acted.rollout.events))


def ran(events: Sequence[Event]) -> list[Event]:
    """The events of those commands."""
    return [event for event in events if event.kind == "execute" and event.role == STUDENT]


def _command(event: Event) -> Command:
    received = event.received
    return Command(cut(said(event.sent)), cut(received["output"]), received["code"] == 0)


def said(value: Any) -> str:
    """A text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def cut(text: str) -> str:
    """`text`, or its head and tail, LONGEST characters together, on lines of their own."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2 - 1]}\n\n{text[len(text) - LONGEST // 2 + 1 :]}"
