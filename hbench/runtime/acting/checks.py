"""The checks of a guidance, run on one proposal in the python jail (Harness-Zero: adapted from middlewares)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hbench.core.action import Action, CallFailure, Tool
from hbench.core.digest import Json
from hbench.core.failure import Failure
from hbench.core.guidance import Entry
from hbench.core.hook import returned, script, told
from hbench.core.message import Message

CHECK_S = 10.0  # for one check at one turn: far more than it needs, since a busy machine must not change a finding
_SPACE = {"memory_mb": 256, "output_chars": 16_384}
_MOST_SAID = 1_000  # characters of evidence and of instruction, each

RunPython = Callable[..., Awaitable[Json]]  # Jails.python


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check says of a proposal: for the reviewer alone."""

    check: str
    evidence: str
    instruction: str

    def to_json(self) -> Json:
        return {"check": self.check, "evidence": self.evidence, "instruction": self.instruction}


async def run_checks(
    checks: Sequence[Entry], proposal: Json, seen: Sequence[Message], run_python: RunPython
) -> tuple[list[Finding], list[str]]:
    """What they find, in their order; and the names for the record: NAME of each that found something, `NAME (error)`,
    `NAME (timeout)` or `NAME (bad_type)` of each that broke and so found nothing."""
    history = [message.to_json() for message in seen]
    results = await asyncio.gather(*(_run(check, [proposal, history], run_python) for check in checks))
    named = zip(checks, results, strict=True)
    findings = [each for each in results if isinstance(each, Finding)]
    return findings, [_name(check, result) for check, result in named if result is not None]


def told_to_checks(proposal: str, tools: Sequence[Tool], call: Any, cut: bool = False) -> Json:
    """A proposal as a check gets it: its text, the tool it calls with its arguments, the shell command of an execute call,
    the final answer; what is not there is None. unreadable: why no call can be read. cut: it ended at the token limit."""
    action, unreadable = Action(None, {}), None
    try:
        action = call.parse(proposal, tools)
        if action.tool is None and cut:
            unreadable = "the message was cut: it is too long, and no answer"
    except CallFailure as bad:
        unreadable = bad.message
    nothing = {"answer": None} if unreadable else {}
    return {**told(action), **nothing, "text": proposal, "unreadable": unreadable}


async def _run(check: Entry, arguments: Sequence[Json], run_python: RunPython) -> Finding | Failure | None:
    found = returned(await run_python(script(check.path, check.text, "check", arguments), timeout_s=CHECK_S, **_SPACE))
    if found is None or isinstance(found, Failure):
        return found
    said = [found.get(key) for key in ("evidence", "instruction")] if isinstance(found, dict) else []
    if len(said) != 2 or not all(isinstance(each, str) for each in said):
        return Failure("reviewer", "bad_type", "a check returns None or {'evidence': text, 'instruction': text}")
    return Finding(check.name, *(each[:_MOST_SAID] for each in said))


def _name(check: Entry, result: Finding | Failure) -> str:
    return f"{check.name} ({result.kind})" if isinstance(result, Failure) else check.name
