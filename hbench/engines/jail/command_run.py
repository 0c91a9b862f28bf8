"""One command of a workspace from the driver's side: its time, the calls of its programs, how it ended."""

import asyncio
from collections.abc import Awaitable, Callable

from hbench.core.digest import Json
from hbench.core.failure import StepError, ToolError
from hbench.core.trajectory import Ran
from hbench.engines.jail.clock import Clock

# Answers one call of a served program: (its name, its arguments, its standard input) -> what it prints.
Called = Callable[[str, list[str], str], Awaitable[str]]

MOST_CHARS = 1_000_000  # of one command's output, and of one answer to a served program
MOST_WAITS = 1000  # calls of one command whose answers take none of its time; who makes more could live for ever
_STOP_S = 60.0  # from the order to end a command to its end, on a busy machine


class CommandRun:
    """send: what the session is to be told. ended: set with a Ran, or with what makes this an error of the step."""

    def __init__(self, number: int, timeout_s: float, called: Called | None, send: Callable[[Json], None]):
        self.number, self._called, self._send = number, called, send
        self.ended: asyncio.Future[Ran] = asyncio.get_running_loop().create_future()
        self._clock = Clock(timeout_s, self._time_is_up)
        self._calls: dict[int, asyncio.Task] = {}
        self._asked = 0
        self._late: asyncio.TimerHandle | None = None

    def take(self, message: Json) -> None:
        """One message of the session about this command."""
        if "ended" in message:
            self._take_end(message)
        elif "call" in message:
            self._asked += 1
            self._clock.stop() if self._asked <= MOST_WAITS else self._clock.go()
            self._calls[message["call"]] = asyncio.ensure_future(self._answer(message))
        elif "gone" in message:
            if (call := self._calls.get(message["gone"])) is not None:
                call.cancel()
        elif not self._calls:
            self._clock.go()

    def _take_end(self, message: Json) -> None:
        if "broken" in message:
            self.fail(StepError(f"a workspace cannot start a command: {message['broken']}"))
        elif not self.ended.done():
            self.ended.set_result(Ran(message["output"], None if self._late else message["code"]))

    async def _answer(self, message: Json) -> None:
        try:
            text, code = await self._called(message["name"], message["argv"], message["stdin"]), 0
        except ToolError as refusal:
            text, code = str(refusal), 1
        except Exception as trouble:  # of the driver's own, or of a service: it ends the step
            self.fail(trouble)
            return
        finally:
            del self._calls[message["call"]]
            if not self._calls and not self.ended.done():
                self._clock.go()
        self._send({"answer": {"number": message["call"], "command": self.number, "text": text[:MOST_CHARS], "code": code}})

    def _time_is_up(self) -> None:
        self._send({"stop": self.number})
        late = StepError(f"a command did not end within {_STOP_S:g} s of its time limit")
        self._late = asyncio.get_running_loop().call_later(_STOP_S, self.fail, late)

    def fail(self, trouble: Exception) -> None:
        if not self.ended.done():
            self.ended.set_exception(trouble)

    def close(self) -> None:
        """Nobody waits for it any more: it is ended, if it was not, and so are its calls."""
        self._clock.stop()
        if self._late is not None:
            self._late.cancel()
        for call in list(self._calls.values()):
            call.cancel()
        self._send({"stop": self.number})
