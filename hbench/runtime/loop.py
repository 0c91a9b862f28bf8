"""One asyncio loop in a thread of its own: model servers and jails share it, so nothing in flight holds a thread."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from typing import Any


class Interrupted(BaseException):
    """The run is being stopped. Not an Exception, so that no step takes it for its own trouble."""


class LoopThread:
    """Runs coroutines for step threads. `stop` cancels what is under way; waiting threads then see Interrupted."""

    def __init__(self) -> None:
        self._loop = _new_loop()
        self._stopping = False
        self._thread = threading.Thread(target=self._loop.run_forever, name="hbench-loop", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The coroutine's result; raises what it raises. Called from any thread but the loop's own."""
        if self._stopping:
            work.close()
            raise Interrupted
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except (asyncio.CancelledError, CancelledError) as stopped:
            raise Interrupted from stopped

    def start(self, work: Coroutine[Any, Any, Any]) -> None:
        """The same, not waited for."""
        asyncio.run_coroutine_threadsafe(work, self._loop)

    def check(self) -> None:
        """Raises Interrupted once the run is being stopped."""
        if self._stopping:
            raise Interrupted

    def stop(self, last: Coroutine[Any, Any, Any] | None = None, seconds: float = 1.0) -> None:
        """Cancels everything, runs `last` (closing engines), and ends the thread, within about `seconds`."""
        self._stopping = True
        try:
            asyncio.run_coroutine_threadsafe(_cancel_all(last, seconds), self._loop).result(seconds + 0.5)
        except Exception:  # a service that does not close in time dies with the process, and nothing is said of it
            self._loop.call_soon_threadsafe(self._loop.set_exception_handler, lambda loop, told: None)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(0.5)


def _new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed: about a tenth less of the driver's CPU time a question."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def _cancel_all(last: Coroutine[Any, Any, Any] | None, seconds: float) -> None:
    mine = asyncio.current_task()
    tasks = [t for t in asyncio.all_tasks() if t is not mine]
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=seconds / 2) if tasks else None
    if last is not None:
        await asyncio.wait_for(last, seconds / 2)
