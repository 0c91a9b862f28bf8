"""One reviewer beside one rollout: each proposal is passed or replaced before it runs (Harness-Zero, section 3)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from hbench.core.action import Tool
from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.guidance import Entry, entries
from hbench.core.message import LMError, Message, Reply
from hbench.core.private import TAGS, private, sentences
from hbench.core.prompt import Prompt, frozen_prompt, render
from hbench.core.replacement import same_action, written
from hbench.core.thinking import after_thinking
from hbench.core.trajectory import Span
from hbench.core.verdict import BadVerdict, read_verdict
from hbench.runtime.acting.checks import Finding, RunPython, run_checks, told_to_checks
from hbench.runtime.acting.patience import Patience
from hbench.steps.act_setting import Review

Ask = Callable[[list[Message]], Awaitable[Reply | LMError]]

# Kinds of LMError that are the reviewer's own bad outcome; with every other its model is down.
_ITS_OWN = {"timeout": "timeout", "too_long": "context"}


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What became of one proposal: the fields of the same names in core.trajectory.Turn.

    accepted: what is to be executed; the proposal itself, byte for byte, when passed. trouble: "" where the reviewer had
    its say; else unreviewed (not a turn that is reviewed), budget, malformed, leaked, forged, unknown_component, timeout
    or context: the proposal is passed, and reason says what was wrong.
    """

    accepted: str
    verdict: Literal["pass", "replace"] = "pass"
    hidden: tuple[Span, ...] = ()
    reason: str = ""
    components: tuple[str, ...] = ()
    tries: int = 0
    checks: tuple[str, ...] = ()
    trouble: str = ""


class ReviewSession:
    """The reviewer of one rollout. Make one a rollout, call `turn` once a turn, in order; it lives in memory alone.

    tools, call: the student's actions, and how it writes them. ask: sends the reviewer's conversation and gives what the
    LM gave (`LM.generate([request])[0]`, an LMError as it is: the session decides which is an outcome and which a
    StepError). run_python: Jails.python, for the checks of the guidance. gold: the right answer, for an oracle alone.
    patience: with a reviewer that hangs. Raises StepError for an oracle without it, or another with it.
    """

    def __init__(
        self,
        review: Review,
        tools: Sequence[Tool],
        call: Any,
        ask: Ask,
        run_python: RunPython,
        gold: Json = None,
        patience: Patience | None = None,
    ):
        if (gold is not None) != review.oracle:
            who, what = ("an oracle", "no right answer") if review.oracle else ("a reviewer that is no oracle", "the right answer")
            raise StepError(f"{who} was given {what}: the arm would not be what it is called")
        self._review, self._tools, self._call, self._ask = review, tuple(tools), call, ask
        self._run_python, self._patience = run_python, patience or Patience()
        self._entries = entries(review.guidance.files) if review.guidance else ()
        self._checks = [each for each in self._entries if each.sort == "check"]
        self._private = private(review.guidance) if review.guidance else TAGS
        self._talk = _opening(review, self._tools, self._entries, gold)
        self._seen: tuple[Message, ...] = ()  # at the last turn
        self._accepted: str | None = None  # in the last turn
        self._told = 0  # how many of the student's messages the reviewer knows
        self._turn, self._replaced, self._over = 0, 0, ""

    async def turn(self, seen: Sequence[Message], proposal: str, cut: bool = False) -> Reviewed:
        """The verdict on `proposal`, which the student said after `seen`: head, accepted responses, observations.

        seen: each time what it was the last time, and more. cut: it ended at the token limit, so it is no answer. Raises
        StepError when the reviewer's model is down, or when `seen` is not a continuation; never for what the reviewer says.
        """
        self._follow(seen)
        reviewed = await self._review_turn(proposal, cut)
        self._turn, self._accepted = self._turn + 1, reviewed.accepted
        self._replaced += reviewed.verdict == "replace"
        return reviewed

    def _follow(self, seen: Sequence[Message]) -> None:
        """A history that is told anew would make training rows that nobody lived through."""
        before = len(self._seen)
        wanted = self._seen if self._accepted is None else (*self._seen, Message("assistant", self._accepted))
        if tuple(seen[: len(wanted)]) != wanted:
            raise StepError(f"turn {self._turn}: the student's history is not that of the turn before, of {before} messages")
        self._seen = tuple(seen)

    async def _review_turn(self, proposal: str, cut: bool) -> Reviewed:
        when, passed = self._review.when, Reviewed(proposal)
        if when["kind"] == "turns" and self._turn not in when.get("turns", ()):
            return replace(passed, trouble="unreviewed")
        if self._over or self._replaced >= self._review.budget:
            return replace(passed, trouble=self._over or "budget")
        told = told_to_checks(proposal, self._tools, self._call, cut)
        findings, names = await run_checks(self._checks, told, self._seen, self._run_python)
        passed = replace(passed, checks=tuple(names))
        if when["kind"] == "checks" and not findings:
            return replace(passed, trouble="unreviewed")
        return await self._judge(passed, told, findings)

    async def _judge(self, passed: Reviewed, told: Json, findings: Sequence[Finding]) -> Reviewed:
        """Asks until a verdict is well formed, `tries` times at most. Only the last try stays in the conversation."""
        shown = self._shown(told, findings)
        talk = [*self._talk, *shown]
        outcome, said = passed, ""
        for number in range(1, self._review.tries + 1):
            reply = await self._ask(talk)
            if isinstance(reply, LMError):
                return replace(passed, tries=number, **self._gone(reply))
            self._patience.worked()
            said = reply.text
            try:
                outcome = replace(self._settled(reply, passed, told, findings), tries=number)
                break
            except BadVerdict as bad:
                outcome = replace(passed, tries=number, trouble=bad.kind, reason=bad.message)
                talk += [Message("assistant", said), *self._render({"problem": bad.message})]
        self._talk += [*shown, Message("assistant", (after_thinking(said) or "").strip())]
        # The response of this turn it has read or written; but past a verdict that did not count it must be told which.
        self._told = len(self._seen) + (not outcome.trouble)
        return outcome

    def _settled(self, reply: Reply, passed: Reviewed, told: Json, findings: Sequence[Finding]) -> Reviewed:
        """What the reply decides. Raises BadVerdict."""
        if reply.truncated:
            raise BadVerdict("malformed", "the verdict was cut off: it is too long")
        verdict = read_verdict(reply.text, self._tools, [each.path for each in self._entries])
        known = {"reason": verdict.reason, "components": verdict.components}
        if verdict.action is None or (not told["unreadable"] and same_action(passed.accepted, verdict, self._tools, self._call)):
            return replace(passed, **known)
        instructions = [each for finding in findings for each in sentences(finding.instruction)]
        read = "\n".join([*(message.content for message in self._seen), passed.accepted])
        text, hidden = written(verdict, self._tools, self._call, (*self._private, *instructions), read)
        return replace(passed, accepted=text, verdict="replace", hidden=hidden, **known)

    def _gone(self, error: LMError) -> Json:
        """The reviewer is asked no more in this rollout. Raises StepError where that is no outcome of its own."""
        why = f"the reviewer gave no reply ({error.kind}): {error.message}"
        if error.kind not in _ITS_OWN:
            raise StepError(why)
        if error.kind == "timeout":
            self._patience.failed(why)
        self._over = _ITS_OWN[error.kind]
        return {"trouble": self._over, "reason": error.message[:500]}

    def _shown(self, told: Json, findings: Sequence[Finding]) -> list[Message]:
        """What is new since the reviewer was last asked, and the proposal."""
        values = {"since": [m.to_json() for m in self._seen[self._told :]], "proposal": told}
        return self._render({**values, "findings": [each.to_json() for each in findings], "problem": None})

    def _render(self, values: Json) -> list[Message]:
        nothing = {"since": [], "proposal": None, "findings": [], "turn": self._turn}
        left = self._review.budget - self._replaced
        return render(_prompt(**self._review.turn_prompt), {**nothing, "left": left, **values})


def _opening(review: Review, tools: Sequence[Tool], known: Sequence[Entry], gold: Json) -> list[Message]:
    """The messages before the first turn. With gold None nothing of the right answer is in them."""
    shown = [{"path": each.path, "sort": each.sort, "text": each.text} for each in known]
    offered = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in tools]
    values = {"tools": offered, "guidance": shown, "gold": gold, "budget": review.budget}
    return render(_prompt(**review.prompt), values)


@lru_cache(maxsize=32)
def _prompt(name: str, digest: str) -> Prompt:
    return frozen_prompt({"name": name, "digest": digest})
