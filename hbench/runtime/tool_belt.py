"""The tools of one rollout, on the driver's side: what the harness asks is checked, counted and recorded here."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hbench.core.corpus import Corpus
from hbench.core.digest import Json
from hbench.core.failure import LimitReached, ToolError
from hbench.core.limits import Limits
from hbench.core.message import Message, Sampling
from hbench.core.model import ModelRef
from hbench.core.protocols import LM, Tool
from hbench.core.rollout import Event, Usage
from hbench.runtime.model_calls import ModelCalls, raise_for, usage_of

ROLES = ("system", "user", "assistant")
MOST_PASSAGES = 100


@dataclass(frozen=True, slots=True)
class Reach:
    """What tools reach. python: Jails.python. corpus: None for a family without documents."""

    lm: LM
    python: Any
    corpus: Corpus | None = None


class ToolBelt:
    """lm(), python() and, where there is a corpus, search() for one rollout, and the events they leave.

    draw: as in ModelCalls: a harness that asks one prompt eight times gets eight draws.
    """

    def __init__(self, solver: ModelRef, limits: Limits, draw: tuple[int, str, int], reach: "Reach"):
        self.events: list[Event] = []
        self._solver, self._limits = solver, limits
        self._calls = ModelCalls(solver, reach.lm, draw, self.events)
        self._run_python, self._corpus = reach.python, reach.corpus

    def tools(self) -> Mapping[str, Tool]:
        offered = {"lm": self.lm, "python": self.python}
        return offered if self._corpus is None else {**offered, "search": self.search}

    def usage(self, seconds: float) -> Usage:
        """Sums over the events so far."""
        return usage_of(self.events, seconds)

    async def lm(self, messages: Json, max_tokens: Json = None, temperature: Json = None, stop: Json = None) -> str:
        """The solver's text. Raises ToolError for arguments that no server would take."""
        self._check_tokens()
        asked, sampling = _checked_messages(messages), self._sampling(max_tokens, temperature, stop)
        return raise_for(await self._calls.ask(asked, sampling), self._solver).text

    async def python(self, code: Json, timeout_s: Json = None) -> Json:
        """{stdout, stderr, ok} of the code, run in the python tool's own jail."""
        if not isinstance(code, str):
            raise ToolError(f"python() takes text, got {type(code).__name__}")
        most = self._limits.python_s
        seconds = min(float(timeout_s), most) if isinstance(timeout_s, int | float) and timeout_s > 0 else most
        started = time.perf_counter()
        result = await self._run_python(code, seconds, self._limits.memory_mb, self._limits.output_chars)
        self.events.append(Event("python", code, result, seconds=time.perf_counter() - started))
        return result

    async def search(self, query: Json, top_k: Json = 7) -> Json:
        """The best passages of the family's corpus: [{id, title, text}], best first, at most `top_k` of them."""
        if not isinstance(query, str):
            raise ToolError(f"search() takes text, got {type(query).__name__}")
        most = int(min(_number(top_k, "top_k", 1), MOST_PASSAGES))
        started = time.perf_counter()
        found = [passage.to_json() for passage in await self._corpus.search(query, most)]
        told = [{"id": passage["id"], "title": passage["title"]} for passage in found]  # the texts are in the corpus
        sent = {"query": query, "top_k": most}
        self.events.append(Event("search", sent, told, seconds=time.perf_counter() - started))
        return found

    def _check_tokens(self) -> None:
        """The jail counts calls; what they cost is known here."""
        if sum(e.completion_tokens for e in self.events) >= self._limits.tokens:
            raise LimitReached("tokens", f"more than {self._limits.tokens} completion tokens")

    def _sampling(self, max_tokens: Json, temperature: Json, stop: Json) -> Sampling:
        base = self._solver.sampling
        most = base.max_tokens if max_tokens is None else min(_number(max_tokens, "max_tokens", 1), base.max_tokens)
        warmth = base.temperature if temperature is None else _number(temperature, "temperature", 0)
        stops = base.stop if stop is None else _checked_stop(stop)
        return Sampling(float(warmth), int(most), base.top_p, stops, base.extra)


def _checked_messages(messages: Json) -> tuple[Message, ...]:
    if not isinstance(messages, list) or not messages:
        raise ToolError("lm() takes a text or a list of {'role', 'content'} messages")
    for message in messages:
        well = isinstance(message, dict) and isinstance(message.get("content"), str) and message.get("role") in ROLES
        if not well:
            raise ToolError(f"each message needs 'content' (text) and 'role' (one of {', '.join(ROLES)})")
    return tuple(Message(m["role"], m["content"]) for m in messages)


def _checked_stop(stop: Json) -> tuple[str, ...]:
    stops = [stop] if isinstance(stop, str) else stop
    if not isinstance(stops, list) or not all(isinstance(s, str) and s for s in stops):
        raise ToolError("stop takes a text or a list of texts, none of them empty")
    return tuple(dict.fromkeys(stops))


def _number(value: Json, name: str, least: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < float("inf"):
        raise ToolError(f"{name} takes a number of at least {least}, got {value!r}")
    return value
