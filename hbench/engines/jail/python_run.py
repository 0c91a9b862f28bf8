"""One python() call from the driver's side."""

import asyncio
import os

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.engines.jail.channel import Channel
from hbench.engines.jail.clock import Clock
from hbench.engines.jail.inside.wire import FORK_FAILED
from hbench.engines.jail.zygote import Zygote


class _Sink:
    """Reads a pipe to its end, keeps the first `room` bytes and drops the rest, so that the writer never waits."""

    def __init__(self, room: int):
        self._loop = asyncio.get_running_loop()
        self._ours, self.theirs = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._ours, False)
        self._room, self._parts = room, []
        self._loop.add_reader(self._ours, self.drain)

    def drain(self) -> None:
        try:
            while data := os.read(self._ours, 1 << 16):
                self._parts.append(data[: self._room])
                self._room -= len(self._parts[-1])
        except BlockingIOError:
            return
        self._loop.remove_reader(self._ours)

    def text(self, chars: int) -> str:
        return b"".join(self._parts).decode("utf-8", "replace")[:chars]

    def close(self) -> None:
        self._loop.remove_reader(self._ours)
        os.close(self._ours)


async def run_python(zygote: Zygote, code: str, timeout_s: float, memory_mb: int, output_chars: int) -> Json:
    """{"stdout", "stderr", "ok"}; at the time limit the process tree is ended and stderr says so."""
    out, err, channel = _Sink(output_chars * 4), _Sink(output_chars * 4), Channel(1)
    child, late = None, []
    clock = Clock(timeout_s, lambda: (late.append(True), child.kill()))
    try:
        pipes = [channel.theirs.fileno(), out.theirs, err.theirs]
        child = zygote.fork({"memory_mb": memory_mb, "cpu_s": timeout_s + 1}, pipes)
        channel.send({"code": code})
        await child.started
        clock.go()
        ended = await child.ended
    finally:
        clock.stop()
        if child is not None:
            child.kill()
        for descriptor in (out.theirs, err.theirs):
            os.close(descriptor)
        channel.close()
        out.drain(), err.drain()
        out.close(), err.close()
    if ended.status == FORK_FAILED:
        raise StepError("the python jail cannot fork: this machine is out of processes or memory")
    stderr = err.text(output_chars) + (f"\nstopped after {timeout_s:g} s" if late else "")
    return {"stdout": out.text(output_chars), "stderr": stderr, "ok": ended.status == 0 and not late}
