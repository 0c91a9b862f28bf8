"""A stopwatch that rings."""

import asyncio
from collections.abc import Callable


class Clock:
    """Counts a child's own wall time, between go() and stop() only, and calls `ring` once `seconds` are used up."""

    def __init__(self, seconds: float, ring: Callable[[], object]):
        self._loop = asyncio.get_running_loop()
        self._left, self._ring = seconds, ring
        self._since: float | None = None
        self._alarm: asyncio.TimerHandle | None = None

    def go(self) -> None:
        if self._since is None:
            self._since = self._loop.time()
            self._alarm = self._loop.call_later(max(0.0, self._left), self._ring)

    def stop(self) -> None:
        if self._since is not None:
            self._left -= self._loop.time() - self._since
            self._since = None
            self._alarm.cancel()

    def restart(self, seconds: float) -> None:
        self.stop()
        self._left = seconds
        self.go()
