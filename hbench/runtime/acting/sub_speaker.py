"""The command `agent "TASK"`: another speaker of the same model, one level deep, in the same workspace."""

from collections.abc import Callable, Sequence

from hbench.core.action import CallFailure
from hbench.core.cut import cut
from hbench.core.message import Message
from hbench.runtime.acting.shell import Shell
from hbench.runtime.acting.speaker import Speaker
from hbench.runtime.model_calls import TooLong

COMMAND, ROLE = "agent", "agent"


class SubSpeaker:
    """What the command is answered with, one call at a time. It is a fresh conversation each time, and its commands get
    shells of their own; its turns are events and no part of the trajectory, and no reviewer reads them.

    make: the speaker of one call. head: its messages before its first turn, for a task. shell: one in which the command
    itself is refused. turns: over all calls of a rollout. chars: of what is printed.
    """

    def __init__(
        self, make: Callable[[], Speaker], head: Callable[[str], Sequence[Message]], shell: Shell, turns: int, chars: int
    ):
        self._make, self._head, self._shell, self._left, self._chars = make, head, shell, turns, chars
        self._at_work = False

    async def called(self, words: Sequence[str], stdin: str) -> str:
        """What the program prints. Raises StepError."""
        task = " ".join(words).strip() or stdin.strip()
        if not task:
            return f'usage: {COMMAND} "TASK"'
        if self._at_work:
            return "another agent is at work, and there is one at a time"
        self._at_work = True
        try:
            return cut(await self._answer(task), self._chars)
        finally:
            self._at_work = False

    async def _answer(self, task: str) -> str:
        speaker, seen = self._make(), list(self._head(task))
        while self._left > 0:
            self._left -= 1
            try:
                reply = await speaker.say(seen)
            except TooLong:
                return "(the agent has read more than fits its context)"
            try:
                action = speaker.read(reply.text, reply.truncated)
                if action.tool is None:
                    return action.text
                told, _ = await self._shell.run(action)
            except CallFailure as bad:
                told = bad.message
            seen += [Message("assistant", reply.text), speaker.call.observation(told)]
        return "(no turns are left for agents)"


async def refuse(words: Sequence[str], stdin: str) -> str:
    """What the command prints where an agent calls it."""
    return "an agent cannot start another: do this yourself"
