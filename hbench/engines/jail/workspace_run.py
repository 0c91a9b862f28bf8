"""One workspace from the driver's side: folders of its own, and a fresh shell for each command (Harness-Zero, section 3)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from hbench.core.trajectory import Ran

# Answers one call of a served program: (its name, its arguments, its standard input) -> what it prints.
Called = Callable[[str, list[str], str], Awaitable[str]]


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
        raise NotImplementedError

    async def execute(self, command: str, timeout_s: float, output_chars: int, called: Called | None = None) -> Ran:
        """Runs `bash -c command`; all that it started has ended when this returns, what went to the background too.

        timeout_s: wall time, not counted while a call of a served program is being answered. output_chars: of both streams
        together; the middle of what is longer is left out, and its length told. called: answers this command's calls in the
        place of the workspace's own. Raises StepError.
        """
        raise NotImplementedError

    async def collect(self, patterns: Sequence[str], most_bytes: int) -> dict[str, bytes]:
        """Regular files whose path matches one of `patterns` (fnmatch, whole path, * also matches /), sorted by path.

        Never follows a link. Raises LimitReached("collected") when they are more than `most_bytes` together; StepError.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Ends the session with all it started, and its folders. Does nothing the second time."""
