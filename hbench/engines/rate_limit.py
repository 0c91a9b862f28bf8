"""Requests and tokens a minute, kept for one model over all who ask it."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

WINDOW_S = 60.0


@dataclass(eq=False)
class Taken:
    """One request in the window; `tokens` is a guess until the reply says how many there were."""

    at: float
    tokens: int


class RateLimit:
    """No minute sees more than `requests` requests or `tokens` tokens, whenever that minute begins; None: no limit.

    First come, first served. A request larger than the whole limit goes when the window is empty.
    """

    def __init__(
        self,
        requests: float | None = None,
        tokens: float | None = None,
        window_s: float = WINDOW_S,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.requests, self.tokens, self.window_s, self.clock = requests, tokens, window_s, clock
        self._taken: deque[Taken] = deque()
        self._sum = 0  # tokens of all in the window
        self._turn = asyncio.Lock()
        self._held_until = 0.0

    def hold(self, seconds: float) -> None:
        """Nobody goes for `seconds`: the server said so."""
        self._held_until = max(self._held_until, self.clock() + seconds)

    async def take(self, tokens: int) -> Taken:
        """Waits for its turn; `tokens` is what the request may use at most."""
        if self.requests is None and self.tokens is None and self.clock() >= self._held_until:
            return Taken(0.0, tokens)
        async with self._turn:
            while (wait := self._wait(tokens)) > 0:
                await asyncio.sleep(min(wait, 1.0))  # a settled guess may make room earlier
            taken = Taken(self.clock(), tokens)
            self._taken.append(taken)
            self._sum += tokens
            return taken

    def settle(self, taken: Taken, tokens: int) -> None:
        """Replaces the guess by what was used."""
        if taken in self._taken:
            self._sum += tokens - taken.tokens
        taken.tokens = tokens

    def _wait(self, tokens: int) -> float:
        """Seconds until a request of `tokens` may go; 0 or less: now."""
        now = self.clock()
        while self._taken and self._taken[0].at <= now - self.window_s:
            self._sum -= self._taken.popleft().tokens
        full = self.requests is not None and len(self._taken) >= self.requests
        full |= self.tokens is not None and self._sum + tokens > self.tokens
        until_free = self._taken[0].at + self.window_s - now if self._taken and full else 0.0
        return max(until_free, self._held_until - now)
