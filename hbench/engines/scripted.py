"""An LM that answers from a list or a function: for tests in Python."""

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence

from hbench.core.message import LMError, Reply, Request

Answer = str | Reply | LMError


class ScriptedLM:
    """answers: a function of the request, or a list that is handed out in order and ends with an LMError.

    latency_ms: (lowest, highest) random wait of each reply. `asked` keeps every request, in order of arrival.
    """

    def __init__(
        self, answers: Callable[[Request], Answer] | Iterable[Answer], latency_ms: tuple[float, float] = (0, 0)
    ):
        self._answers = answers if callable(answers) else _in_order(answers)
        self.latency_ms = latency_ms
        self.asked: list[Request] = []

    async def generate(self, requests: Sequence[Request]) -> list[Reply | LMError]:
        return list(await asyncio.gather(*map(self._answer, requests)))

    async def check(self) -> None: ...

    async def close(self) -> None: ...

    async def _answer(self, request: Request) -> Reply | LMError:
        self.asked.append(request)
        answer = self._answers(request)
        await wait_between(self.latency_ms)
        return spoken(request, answer) if isinstance(answer, str) else answer


async def wait_between(latency_ms: Sequence[float]) -> None:
    """A random wait in [low, high] milliseconds, drawn anew each time."""
    low, high = latency_ms
    if high > 0:
        await asyncio.sleep(random.uniform(low, high) / 1000)


def spoken(request: Request, text: str, finish: str = "stop") -> Reply:
    """A reply with `text`; tokens are counted as words, so that ledgers and limits have something to count."""
    return Reply(
        text=text,
        finish_reason=finish,
        prompt_tokens=sum(len(message.content.split()) for message in request.messages),
        completion_tokens=len(text.split()),
    )


def _in_order(answers: Iterable[Answer]) -> Callable[[Request], Answer]:
    left = iter(answers)
    return lambda _: next(left, LMError("bad_request", "the script has no more answers"))
