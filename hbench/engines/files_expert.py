"""A deterministic expert at small shell jobs, an LM made of rules: it does them as a student, or reviews one that does."""

import json
import re

from hbench.core.digest import Json
from hbench.core.message import Request
from hbench.engines.filing.commands import Unit, units
from hbench.engines.filing.follow import Progress, progress
from hbench.engines.filing.plans import Lost, understood
from hbench.engines.filing.shown import Shown, call, overview, read
from hbench.engines.of_rules import OfRules

DONE = "Done."
AT_A_LOSS = "I do not know how to do this."
MOST_LOOKS = 2  # looks that are no part of the plan, a rollout
MOST_BESIDE = 120  # characters beside a call: more is rambling, and not to be learnt
_SENTENCE = r"[A-Z][^\n]{0,60}[.!]"  # the same of an answer


class FilesExpert(OfRules):
    """Uses the instruction and what commands printed, and nothing else: no gold, no look at the folder.

    As a reviewer it passes what does the same as it would do next, or more of its plan at once, and now and then a look at
    files that it has heard of; all else it replaces by its own next command. Asked through prompts/reviewer/turn_json.
    As a student under h* it looks around first, with the bank's tool for that where it is offered one.
    """

    name = "files_expert"
    version = 1

    def said(self, request: Request) -> str:
        shown = read(request.messages)
        asked = understood(shown.instruction)
        try:
            at = progress(asked, shown.ran) if asked else None
            wanted = at.left() if at else None
        except Lost:
            at = None
        if shown.proposal is not None:
            return json.dumps(_verdict(shown, at, wanted) if at else {"decision": "pass", "reason": AT_A_LOSS})
        if first := overview(request):
            return first
        if at is None:
            return AT_A_LOSS
        return call(wanted, request.tools is not None) if wanted else DONE


def _verdict(shown: Shown, at: Progress, wanted: str | None) -> Json:
    """wanted: the command that comes next; None when all is done."""
    if _as_good(shown, at, wanted):
        return {"decision": "pass"}
    instead = {"command": wanted} if wanted else {"answer": DONE}
    return {"decision": "replace", **instead, "reason": _reason(shown.proposal, wanted)}


def _reason(proposal: Json, wanted: str | None) -> str:
    if proposal["unreadable"]:
        return "no call can be read"
    if proposal["command"] is None:
        return "the job is not done yet" if wanted else "the answer is no short sentence"
    return "the job needs another command" if wanted else "the job is done"


def _as_good(shown: Shown, at: Progress, wanted: str | None) -> bool:
    """Whether the proposal is what the expert would do, or does no harm."""
    proposal = shown.proposal
    if wanted is None:
        return re.fullmatch(_SENTENCE, (proposal["answer"] or "").strip()) is not None
    command = proposal["command"]
    if command is None or len(proposal["text"]) > len(command) + MOST_BESIDE:
        return False
    meant = units(command)
    return meant is not None and (at.after(meant, "") is not None or _may_look(shown, at, meant))


def _may_look(shown: Shown, at: Progress, meant: tuple[Unit, ...]) -> bool:
    """A look that was not had before, at files that were named; `MOST_LOOKS` of them."""
    before = [units(command) for command, _ in shown.ran]
    extra = len(before) - len(at.printed)
    if meant in before or extra >= MOST_LOOKS:
        return False
    known = " ".join([shown.instruction, *(output for _, output in shown.ran)])
    named = set(re.findall(r"[\w-]+(?:\.\w+)?", known))
    files = [file for unit in meant for file in unit.read]
    return all(unit.looks for unit in meant) and all(file in named or file.startswith("*.") for file in files)
