"""A reviewer's replacement as the student's own message: one action, in its call format, with nothing private in it."""

import re
from collections.abc import Sequence
from typing import Any

from hbench.core.action import Action, CallFailure, Tool
from hbench.core.private import leaked
from hbench.core.trajectory import Span
from hbench.core.verdict import BadVerdict, Verdict
from hbench.core.voice import voice_spans

# What a chat template or a reader of thoughts takes for the end of one message and the start of another.
_MARKERS = re.compile(r"<\|\w{1,40}\|>|</?think>|<(?:start|end)_of_turn>|\[/?INST\]|</?s>|<｜[^\n｜]{1,40}｜>", re.IGNORECASE)


def written(verdict: Verdict, tools: Sequence[Tool], call: Any, private: Sequence[str], known: str) -> tuple[str, tuple[Span, ...]]:
    """The message that takes the proposal's place, and the spans of it that are not the student's to learn.

    Those are the reasoning, and each sentence of the rest beside the call that is in a reviewer's voice. With an answer no
    reasoning is said: the whole message is the answer. call: core.protocols.CallFormat. known: what the student has
    read. Raises BadVerdict for what cannot be written as one action, gives private things away, or forges a message.
    """
    action = verdict.action
    beside = "\n\n".join(filter(None, (verdict.reasoning, verdict.content)))
    action = action if action.tool is None else Action(action.tool, action.arguments, beside)
    text = _one_action(action, tools, call)
    if marker := _MARKERS.search(text):
        raise BadVerdict("forged", f"a replacement cannot hold {marker[0]!r}: it would end the message")
    if told := leaked(text, private, known):
        raise BadVerdict("leaked", f"a replacement cannot say {told[:200]!r}: the student has not seen it")
    return text, _hidden(text, action, verdict.reasoning)


def same_action(proposal: str, verdict: Verdict, tools: Sequence[Tool], call: Any) -> bool:
    """Whether what the reviewer wants done is what the student is about to do, whatever is said beside it."""
    try:
        mine = call.parse(proposal, tools)
    except CallFailure:
        return False
    theirs = verdict.action
    if mine.tool is None or theirs.tool is None:
        return mine.tool is theirs.tool and mine.text.strip() == theirs.text.strip()
    return (mine.tool, mine.arguments) == (theirs.tool, theirs.arguments)


def _one_action(action: Action, tools: Sequence[Tool], call: Any) -> str:
    """The message; what the student's side reads out of it is this action and no other."""
    try:
        text = call.write(action)
        read = call.parse(text, tools)
    except CallFailure as bad:
        raise BadVerdict("malformed", f"the replacement is not one call: {bad.message}") from None
    if (read.tool, read.arguments, read.text.strip()) != (action.tool, action.arguments, action.text.strip()):
        wanted, got = action.tool or "an answer", read.tool or "an answer"
        raise BadVerdict("malformed", f"the replacement would be read as something else: wanted {wanted}, read {got}")
    return text


def _hidden(text: str, action: Action, reasoning: str) -> tuple[Span, ...]:
    start = text.find(action.text)
    if start < 0:  # a format that writes what is said in some other way: nothing of it can be told apart
        return ((0, len(text)),)
    own = [(start, start + len(reasoning))] if action.tool is not None and reasoning else []
    after = own[0][1] if own else start
    rest = text[after : start + len(action.text)]
    return (*own, *((after + first, after + last) for first, last in voice_spans(rest)))
