"""lm-eval's requests, put in pieces: each is held for at the driver before it is put, and noted with the tokens that it took."""

import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from hbench.core.budget import AROUND
from hbench.parts.families._lm_eval_requests import longest
from hbench.runtime.pay_desk import Purser


class PaidLM:
    """`lm`, one of engines.benchmark_models, as lm-eval asks it. A request is one call, whatever it is made of: a long text
    whose likelihood is asked is read in several windows.

    Raises OutOfBudget where nobody may pay for a request; what was answered before is in lm-eval's cache.
    """

    def __init__(self, lm: Any, purser: Purser):
        self._lm, self._purser = lm, purser

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lm, name)

    def loglikelihood(self, requests: Sequence[Any]) -> list[Any]:
        return self._answers("loglikelihood", requests)

    def loglikelihood_rolling(self, requests: Sequence[Any]) -> list[Any]:
        return self._answers("loglikelihood_rolling", requests)

    def generate_until(self, requests: Sequence[Any]) -> list[Any]:
        return self._answers("generate_until", requests)

    def _answers(self, how: str, requests: Sequence[Any]) -> list[Any]:
        answers: dict[int, Any] = {}
        for piece in pieces([each.args for each in requests], self._lm.at_once):
            while piece:
                may = self._purser.hold([at_most(how, requests[place].args) for place in piece])
                answers |= self._put(how, requests, piece[:may])
                piece = piece[may:]
        return [answers[place] for place in range(len(requests))]

    def _put(self, how: str, requests: Sequence[Any], places: Sequence[int]) -> dict[int, Any]:
        started = time.perf_counter()
        try:
            made = getattr(self._lm, how)([requests[place] for place in places], disable_tqdm=True)
        finally:
            self._purser.settle(self._lm.used.take(), time.perf_counter() - started)
        return dict(zip(places, made, strict=True))


def pieces(asked: Sequence[tuple[Any, ...]], contexts: int) -> Iterator[list[int]]:
    """Places of all that is asked, so many contexts at a time: those that are asked alike together, the longest first.

    What lm-eval computes once for several requests stays together, and a batch holds rows of about one length.
    """

    def kind(place: int) -> tuple[str, int, str]:
        text = _text(asked[place][0])
        settings = asked[place][1] if len(asked[place]) > 1 and isinstance(asked[place][1], dict) else None
        return str(settings), -len(text), text

    piece: list[int] = []
    for number, (_, same) in enumerate(groupby(sorted(range(len(asked)), key=kind), key=kind), 1):
        piece += same
        if number % contexts == 0:
            yield piece
            piece = []
    if piece:
        yield piece


def at_most(how: str, asked: tuple[Any, ...]) -> tuple[int, int]:
    """Prompt and completion tokens that a request of lm-eval may take: no token is shorter than a byte."""
    text = _text(asked[0]) + (asked[1] if how == "loglikelihood" else "")
    prompt = len(text.encode("utf-8", "surrogatepass"))
    if how == "generate_until":
        return prompt + AROUND, longest(asked[1])
    return prompt * (2 if how == "loglikelihood_rolling" else 1) + AROUND, 1  # windows overlap


def _text(context: Any) -> str:
    """What is put: a text, or a chat as JSON in lm-eval's wrapping."""
    return getattr(context, "prompt", context)
