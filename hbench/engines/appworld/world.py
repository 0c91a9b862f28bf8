"""One world of a rollout: the student's code goes in by the program `world`, and the evaluation comes out at the end."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Protocol

from hbench.core.digest import Json
from hbench.core.failure import ToolError
from hbench.engines.appworld.zygotes import Job

PROGRAM = "world"
EVALUATION = "appworld/evaluation.json"
CALL_S = 300.0  # the engine itself stops a call after 100 s
_MOST_CODE = 200_000  # characters of one call
_MOST_CHANGES, _MOST_CHANGED = 200_000, 50_000_000  # of one rollout: statements, and their characters in all
_USAGE = f"""{PROGRAM} runs Python code: {PROGRAM} "print(apis.supervisor.show_profile())", or code on standard input."""


class _Worlds(Protocol):
    """See worlds.py."""

    async def evaluate(self, world: "World") -> Json | str: ...

    def closed(self) -> None: ...


class World:
    """What a domain offers beside its workspace: `commands`, `called`, and `finish`, once.

    models: app -> its tables. changes: app -> statements since the start, as of the last call that came to its end.
    """

    commands = (PROGRAM,)

    def __init__(self, worlds: _Worlds, task_id: str, job: Job, models: Mapping[str, Sequence[str]]):
        self._worlds, self._job = worlds, job
        self.task_id, self.models = task_id, models
        self.changes: dict[str, list[Json]] = {app: [] for app in models}
        self._changed = 0  # characters
        self._over = ""
        self._turn = asyncio.Lock()
        self._running: asyncio.Task | None = None

    async def called(self, name: str, words: Sequence[str], stdin: str) -> str:
        """What the code printed, or its traceback. Variables stay from call to call; calls wait for each other.

        Raises ToolError without code, and once the engine's process has ended, as code can make it do; StepError.
        """
        code = " ".join(words) if words else stdin
        if not code.strip() or len(code) > _MOST_CODE:
            raise ToolError(_USAGE if not code.strip() else f"more than {_MOST_CODE} characters of code")
        async with self._turn:
            await self._last_call()
            if self._over:
                raise ToolError(self._over)
            # The call goes on in the engine when its program was stopped: what it changes is the student's doing.
            self._running = asyncio.ensure_future(self._execute(code))
            return await asyncio.shield(self._running)

    async def _execute(self, code: str) -> str:
        reply = await self._job.ask({"code": code}, CALL_S)
        if isinstance(reply, str):
            self.end(f"the world has come to its end: {reply}")
            raise ToolError(self._over)
        if why := self._take(reply.get("changes")):
            self.end(f"the world has come to its end: {why}")
            raise ToolError(self._over)
        return str(reply.get("text"))

    def _take(self, changes: Json) -> str:
        """Keeps what a call changed, or says why not: the process that tells of it may be the student's by now."""
        rows = changes.values() if isinstance(changes, dict) and set(changes) <= set(self.changes) else [None]
        if not all(isinstance(of_app, list) and all(map(_is_statement, of_app)) for of_app in rows):
            return "it says of itself what cannot be"
        self._changed += len(json.dumps(changes)) if changes else 0
        if sum(map(len, [*rows, *self.changes.values()])) > _MOST_CHANGES or self._changed > _MOST_CHANGED:
            return "more was changed than is kept of a rollout"
        for app, of_app in changes.items():
            self.changes[app] += of_app
        return ""

    async def _last_call(self) -> None:
        if self._running:
            await asyncio.wait([self._running])
            self._running.cancelled() or self._running.exception()  # seen: nobody may be waiting for it any more

    def end(self, why: str) -> None:
        """No more calls. Does nothing the second time."""
        if not self._over:
            self._over = why
            self._job.close()

    async def finish(self) -> dict[str, bytes]:
        """What the tests say of the world that is left, as the file EVALUATION. Raises StepError."""
        try:
            await self._last_call()
            self.end("the rollout is over")
            found = await self._worlds.evaluate(self)
        finally:
            self.end("the rollout is over")
            self._worlds.closed()
        return {EVALUATION: json.dumps({"trouble": found} if isinstance(found, str) else found).encode()}


def _is_statement(row: Json) -> bool:
    """Of the database: its text, what is filled in, and whether that is many at once."""
    return isinstance(row, list) and len(row) == 3 and isinstance(row[0], str) and isinstance(row[1], list | dict)
