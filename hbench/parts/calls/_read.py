"""What both call formats read alike."""

import json
from collections.abc import Sequence
from typing import TypeVar

from hbench.core.action import EXECUTE, CallFailure
from hbench.core.digest import Json
from hbench.core.thinking import after_thinking

Call = TypeVar("Call")


def said(text: str) -> str:
    """What the message says behind its thought. Raises CallFailure: nothing, or a thought that never ends."""
    spoken = after_thinking(text)
    if spoken is None:
        raise CallFailure("unclosed", "the thought has no end: write </think>, then a call or the answer")
    if not spoken.strip():
        raise CallFailure("empty", "the message is empty: write a call or the answer")
    return spoken


def the_one(calls: Sequence[Call], what: str) -> Call:
    """The only one of `calls`. Raises CallFailure."""
    if len(calls) > 1:
        raise CallFailure("several_calls", f"{len(calls)} calls in one message, and none was run: write one {what}, then wait")
    return calls[0]


def object_of(text: str, what: str) -> dict[str, Json]:
    """The object in a JSON text. Raises CallFailure; `what` names it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as bad:
        raise CallFailure("bad_arguments", f"{what} is no JSON: {bad}") from None
    if not isinstance(found, dict):
        raise CallFailure("bad_arguments", f"{what} is an object, not {type(found).__name__}")
    return found


def checked_arguments(arguments: Json, tool: str) -> dict[str, Json]:
    """`arguments` where they are an object, and a command where the tool takes one. Raises CallFailure."""
    if not isinstance(arguments, dict):
        raise CallFailure("bad_arguments", f"{tool} takes an object of arguments, got {type(arguments).__name__}")
    command = arguments.get("command")
    if tool == EXECUTE and (set(arguments) != {"command"} or not isinstance(command, str) or not command.strip()):
        raise CallFailure("bad_arguments", f'{EXECUTE} takes {{"command": the shell command}} and nothing else')
    return arguments
