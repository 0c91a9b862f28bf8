"""One workspace from the driver's side: folders of its own, and a fresh shell for each command (Harness-Zero, section 3)."""

import asyncio
import base64
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from hbench.core.failure import LimitReached, StepError
from hbench.core.trajectory import Ran
from hbench.engines.jail import start, visible
from hbench.engines.jail.channel import BadMessage, Channel
from hbench.engines.jail.command_run import MOST_CHARS, Called, CommandRun
from hbench.engines.jail.inside.wire import FORK_FAILED
from hbench.engines.jail.pool import Pool
from hbench.engines.jail.zygote import Child, ZygoteDied

_MESSAGE_CHARS = 12 * MOST_CHARS + 1000  # a character of an output takes up to twelve, as \ud83d\ude00


@dataclass(frozen=True, slots=True)
class WorkspaceLimits:
    """memory_mb: of one process. disk_mb: of all files together; /tmp has as much again."""

    memory_mb: int = 1024
    disk_mb: int = 256


class Workspace:
    """Made by Jails.workspace for one rollout. `open` it once, then any number of commands, also at once; then `close` it.

    folder: where commands start, their HOME; "/workspace" but where there are no namespaces. bank: where the read-only files
    lie; "/bank" but there. Both are known once it is open, and stand in the commands' environment as HOME and BANK.
    """

    folder = "/workspace"
    bank = "/bank"

    def __init__(self, pool: Pool, limits: WorkspaceLimits):
        self._pool, self._limits = pool, limits
        self._child: Child | None = None
        self._channel: Channel | None = None
        self._reader: asyncio.Task | None = None
        self._trouble: Exception | None = None
        self._commands: dict[int, CommandRun] = {}
        self._last = 0
        self._replies: asyncio.Queue[dict | None] = asyncio.Queue()  # to `open` and `collect`; None: no more to come
        self._turn = asyncio.Lock()
        self._called: Called | None = None

    async def open(
        self,
        files: Mapping[str, bytes],
        read_only: Mapping[str, bytes] = {},
        commands: Sequence[str] = (),
        called: Called | None = None,
    ) -> None:
        """Starts the session. files, read_only: path below `folder` and below `bank` -> content.

        commands: names of programs in PATH that `called` answers: what it returns is printed, and the exit code is 0; a
        ToolError is printed on standard error, and the code is 1. A program reads its standard input only where it is
        given no argument. Whatever else `called` raises, `execute` raises. Raises StepError, HbenchError without a jail.
        """
        laid, bank = _packed(files), _packed(read_only)
        if bad := [name for name in commands if not re.fullmatch(r"[a-z][a-z0-9_-]*", name)]:
            raise ValueError(f"not a name of a program: {bad[0]!r}")
        self._called = called
        try:
            await self._start()
        except ZygoteDied:
            self._let_go()
            await self._start()
        self._reader = asyncio.ensure_future(self._read())
        client = f"{start.home_of(self._child.zygote.recipe)}/inside/call.py"
        self._channel.send({"open": {"laid": laid, "read_only": bank, "commands": list(commands), "client": client}})
        opened = await self._reply()
        self.folder, self.bank = opened["folder"], opened["bank"]
        if opened["trouble"]:
            await self.close()
            raise StepError(f"a workspace of {self._limits.disk_mb} MB cannot be laid out: {opened['trouble']}")

    async def _start(self) -> None:
        zygote = await self._pool.zygote()
        self._channel = Channel(_MESSAGE_CHARS)
        limits = {"memory_mb": self._limits.memory_mb, "disk_mb": self._limits.disk_mb, "bash": visible.bash()}
        self._child = zygote.fork(limits, [self._channel.theirs.fileno()])
        self._channel.theirs.close()
        await self._child.started

    async def execute(self, command: str, timeout_s: float, output_chars: int, called: Called | None = None) -> Ran:
        """Runs `bash -c command`; all that it started has ended when this returns, what went to the background too.

        timeout_s: wall time, not counted while a call of a served program is being answered. output_chars: of both streams
        together, at most 1,000,000; the middle of what is longer is left out, and its length told. called: answers this
        command's calls in the place of the workspace's own. Raises StepError.
        """
        if not 0 < output_chars <= MOST_CHARS:
            raise ValueError(f"output_chars is {output_chars}, not from 1 to {MOST_CHARS}")
        self._check()
        self._last += 1
        number, answers = self._last, called or self._called
        ran = self._commands[number] = CommandRun(number, timeout_s, answers, self._channel.send)
        order = {"number": number, "command": command.encode("utf-8", "replace").decode(), "output_chars": output_chars}
        self._channel.send({"run": {**order, "cpu_s": math.ceil(timeout_s) + 1, "served": answers is not None}})
        try:
            return await ran.ended
        finally:
            del self._commands[number]
            ran.close()

    async def collect(self, patterns: Sequence[str], most_bytes: int) -> dict[str, bytes]:
        """Regular files whose path matches one of `patterns` (fnmatch, whole path, * also matches /), sorted by path.

        Never follows a link. Raises LimitReached("collected") when they are more than `most_bytes` together; StepError.
        """
        found: dict[str, bytearray] = {}
        async with self._turn:
            self._check()
            self._channel.send({"collect": {"patterns": list(patterns), "most_bytes": most_bytes}})
            try:
                while "file" in (reply := await self._reply()):
                    found.setdefault(reply["file"], bytearray()).extend(base64.b64decode(reply["data"]))
            except asyncio.CancelledError:
                self._break(StepError("the workspace was left amid a collection"))  # what is still to come has no taker
                raise
        if "too_much" in reply:
            raise LimitReached("collected", f"the files to be graded hold more than {most_bytes} bytes")
        return {path: bytes(content) for path, content in found.items()}

    async def close(self) -> None:
        """Ends the session with all it started, and its folders. Does nothing the second time."""
        self._break(StepError("the workspace was closed"))
        child = self._child
        self._let_go()
        if child is not None:
            try:
                await child.ended
            except ZygoteDied:
                pass
        if self._reader is not None:
            await asyncio.gather(self._reader, return_exceptions=True)

    def _let_go(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None
        if self._reader is not None:
            self._reader.cancel()
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _check(self) -> None:
        if self._trouble is not None:
            raise self._trouble
        if self._channel is None:
            raise StepError("the workspace is not open")

    async def _reply(self) -> dict:
        """The session's next word to `open` or `collect`. Raises StepError when there is none to come."""
        reply = await self._replies.get()
        if reply is None:
            self._replies.put_nowait(None)
            raise self._trouble
        return reply

    async def _read(self) -> None:
        """Hands each of the session's messages to whom it is for, until there are no more."""
        try:
            while (message := await self._channel.receive()) is not None and "fatal" not in message:
                self._take(message)
            self._break(await self._why(message))
        except BadMessage as bad:
            self._break(StepError(f"a workspace's session said what it must not: {bad.failure.message}"))

    def _take(self, message: dict) -> None:
        number = message.get("command")
        if number is None:
            self._replies.put_nowait(message)
        elif number in self._commands:
            self._commands[number].take(message)

    async def _why(self, last: dict | None) -> StepError:
        """Why the session came to its end."""
        if last is not None:
            return StepError(f"a workspace's session broke: {last['fatal']}")
        try:
            ended = await self._child.ended
        except ZygoteDied as died:
            return died
        if ended.status == FORK_FAILED:
            return StepError("the workspace jail cannot fork: this machine is out of processes or memory")
        return StepError(f"a workspace's session ended by itself (wait status {ended.status})")

    def _break(self, trouble: Exception) -> None:
        if self._trouble is None:
            self._trouble = trouble
            self._replies.put_nowait(None)
            for command in list(self._commands.values()):
                command.fail(trouble)


def _packed(files: Mapping[str, bytes]) -> dict[str, str]:
    """path -> base64. Raises ValueError for a path that does not stay in its folder."""
    for path in files:
        parts = PurePosixPath(path).parts
        if not parts or parts[0] == "/" or ".." in parts or "\0" in path:
            raise ValueError(f"not a path in a workspace: {path!r}")
    return {path: base64.b64encode(content).decode() for path, content in files.items()}
