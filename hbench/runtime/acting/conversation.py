"""One conversation with a model inside a rollout. It grows, and each of its events holds only what is new."""

from collections.abc import Sequence

from hbench.core.digest import Json
from hbench.core.message import LMError, Message, Reply
from hbench.runtime.model_calls import ModelCalls


class Conversation:
    """An event's `sent` is the list of messages; of a later call {"after": n, "messages": […]}, where the first n are those
    of the call before and its reply. Forty turns would else store the first one forty times.

    tools: what the chat template is given. role: who speaks; the model's role where "".
    """

    def __init__(self, calls: ModelCalls, tools: Json = None, role: str = ""):
        self._calls, self._tools, self._role = calls, tools, role
        self._before: tuple[Message, ...] = ()

    async def ask(self, messages: Sequence[Message]) -> Reply | LMError:
        """What the LM gave."""
        asked = tuple(messages)
        same = _alike(self._before, asked)
        new = [message.to_json() for message in asked[same:]]
        sent = {"after": same, "messages": new} if same else new
        reply = await self._calls.ask(asked, self._calls.model.sampling, self._tools, sent, self._role)
        if isinstance(reply, Reply):
            self._before = (*asked, Message("assistant", reply.text))
        return reply


def _alike(one: Sequence[Message], other: Sequence[Message]) -> int:
    """How many messages both begin with."""
    differ = (place for place, (a, b) in enumerate(zip(one, other)) if a != b)
    return next(differ, min(len(one), len(other)))
