"""A student, or a sub-agent of the same model: its conversation, and how its words are read."""

from collections.abc import Sequence
from typing import Any

from hbench.core.action import Action, CallFailure, Tool
from hbench.core.failure import StepError
from hbench.core.message import Message, Reply
from hbench.core.model import ModelRef
from hbench.runtime.acting.conversation import Conversation
from hbench.runtime.model_calls import ModelCalls, raise_for


class Speaker:
    """calls: shared by all speakers of a rollout, so that no two of them get the same draw."""

    def __init__(self, calls: ModelCalls, call: Any, tools: Sequence[Tool], role: str = ""):
        self.call, self.tools = call, tuple(tools)
        self._model: ModelRef = calls.model
        self._conversation = Conversation(calls, call.template_tools(self.tools), role)

    async def say(self, seen: Sequence[Message]) -> Reply:
        """Its next message. Raises TooLong when what it has seen no longer fits its context, StepError for the machine."""
        reply = raise_for(await self._conversation.ask(seen), self._model)
        if reply.tool_calls:
            raise StepError(
                f"the server of the {self._model.role} takes calls out of what the model says, and only the words are read: "
                "start it without a tool parser, or write calls as blocks (call: {kind: fenced})"
            )
        return reply

    def read(self, text: str, cut: bool) -> Action:
        """What the message asks for. cut: it ended at max_tokens, so it is neither an answer nor a call without an end.

        Raises CallFailure, whose message the student is told.
        """
        try:
            action = self.call.parse(text, self.tools)
        except CallFailure:
            if not cut:
                raise
            action = None
        if cut and (action is None or action.tool is None):
            raise CallFailure("truncated", "the message was cut: it is too long. Say less, and write one call or the answer")
        return action
