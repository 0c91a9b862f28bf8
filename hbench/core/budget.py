"""What calls of models cost, and an account that pays for them up to a limit."""

import time
from collections.abc import Callable
from dataclasses import dataclass, fields

from hbench.core.message import Request

MILLION = 1_000_000
REFUSED = "budget"  # kind of the LMError in place of a reply that nobody may pay for
AROUND, A_MESSAGE = 64, 16  # tokens that a chat template may lay around a prompt, and around each of its messages


@dataclass(frozen=True, slots=True)
class Price:
    """Money for a million tokens, in whatever currency."""

    prompt: float = 0.0
    completion: float = 0.0

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / MILLION


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that may be used; None: as much as it takes. tokens: prompt and completion. wall_s: seconds."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    wall_s: float | None = None

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) is not None for field in fields(self))


class Account:
    """What was used of a limit, and what calls under way hold of it. name: for people, "the run" or "arm NAME"."""

    def __init__(self, name: str, limit: Limit, clock: Callable[[], float] = time.monotonic):
        self.name, self.limit = name, limit
        self.calls, self.tokens, self.cost = 0, 0, 0.0  # with what calls under way may still come to
        self.under_way = 0
        self._clock, self._at_work, self._since, self._seconds = clock, 0, 0.0, 0.0

    def begin(self) -> None:
        """A step that it pays for is at work from now on. Time counts while at least one is."""
        if self._at_work == 0:
            self._since = self._clock()
        self._at_work += 1

    def end(self) -> None:
        self._at_work -= 1
        if self._at_work == 0:
            self._seconds += self._clock() - self._since

    @property
    def seconds(self) -> float:
        return self._seconds + (self._clock() - self._since if self._at_work else 0.0)

    def hold(self, tokens: int, cost: float) -> None:
        """For a call that is put now: the most that it may come to."""
        self.calls, self.tokens, self.cost = self.calls + 1, self.tokens + tokens, self.cost + cost
        self.under_way += 1

    def settle(self, tokens: int, cost: float) -> None:
        """The call has ended. tokens, cost: what it came to, less what was held for it."""
        self.tokens, self.cost = self.tokens + tokens, self.cost + cost
        self.under_way -= 1

    def late(self) -> str:
        """Why it pays for nothing any more, whatever it would cost: its time is over. Else ""."""
        most = self.limit.wall_s
        return f"{self.name} has used up its budget of {most:,g} s" if most is not None and self.seconds >= most else ""

    def lacks(self, tokens: int, cost: float) -> str:
        """Why a call that may come to so much cannot be paid; "" where it can."""
        limit = self.limit
        if limit.calls is not None and self.calls >= limit.calls:
            return f"{self.name} has used up its budget of {limit.calls:,} calls"
        for word, used, asked, most in (("tokens", self.tokens, tokens, limit.tokens), ("cost", self.cost, cost, limit.cost)):
            if most is not None and used + asked > most:
                left = f"{self.name} has {max(0, most - used):,.10g} left of its budget of {most:,.10g} ({word})"
                return f"{left}, and the next call may take {asked:,.10g}"
        return self.late()


@dataclass(slots=True)
class Spent:
    """What was spent on one model in one role. seconds: waited for replies. reused_…: answered by the reply store, free."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    reused_calls: int = 0
    reused_tokens: int = 0


def at_most(request: Request) -> tuple[int, int]:
    """Prompt and completion tokens that a call may take: no token is shorter than a byte."""
    prompt = sum(len(message.content.encode("utf-8", "surrogatepass")) + A_MESSAGE for message in request.messages)
    told = len(str(request.tools)) if request.tools else 0
    return prompt + told + AROUND, request.sampling.max_tokens
