"""A program of somebody else's, run with the user's rights: no jail, a clean environment, never through a shell.

Nothing here keeps it from reading what the user may read. What it is given is what the caller lays into its folder.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from hbench.core.failure import StepError
from hbench.core.outside import Finished

ALWAYS = ("PATH", "HOME", "LANG")  # variables that every such program is given
_HALF = 200_000  # bytes kept of either end of a stream
_LOOK_S = 0.1


def run_outside(
    words: Sequence[str], folder: Path, wall_s: float, names: Sequence[str] = (), look: Callable[[], None] = lambda: None
) -> Finished:
    """Runs `words` in `folder` to its end; at the time limit it and its process group are ended.

    names: environment variables that it gets beside ALWAYS, where they are set. look: called about ten times a second;
    what it raises ends the program. A program that leaves its process group is not followed. Raises StepError when there
    is no such program.
    """
    given = {name: os.environ[name] for name in (*ALWAYS, *names) if name in os.environ}
    try:
        process = subprocess.Popen(
            list(words),
            cwd=folder,
            env=given,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as bad:
        raise StepError(f"{words[0]} cannot be started: {bad}") from bad
    streams = [_Stream(process.stdout), _Stream(process.stderr)]
    try:
        code = _wait(process, wall_s, look)
    finally:
        _end(process)
    return Finished(code, *(stream.text() for stream in streams))


def _wait(process: subprocess.Popen, wall_s: float, look: Callable[[], None]) -> int | None:
    until = time.monotonic() + wall_s
    while (code := process.poll()) is None:
        look()
        if time.monotonic() > until:
            return None
        time.sleep(_LOOK_S)
    return code


def _end(process: subprocess.Popen) -> None:
    """kill -9 of the program and of what it left in its process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


class _Stream:
    """Read to its end in a thread of its own, so that the program never waits; its middle is dropped when it is long."""

    def __init__(self, pipe: IO[bytes]):
        self._pipe, self._head, self._tail, self._dropped = pipe, b"", b"", 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while data := self._pipe.read1(1 << 16):
            room = max(0, _HALF - len(self._head))
            self._head += data[:room]
            self._tail += data[room:]
            over = max(0, len(self._tail) - _HALF)
            self._tail, self._dropped = self._tail[over:], self._dropped + over

    def text(self) -> str:
        # What left the process group may hold the pipe open: it is not waited for.
        self._thread.join(1.0)
        head, tail = (part.decode("utf-8", "replace") for part in (self._head, self._tail))
        return f"{head}\n… {self._dropped} bytes left out …\n{tail}" if self._dropped else head + tail
