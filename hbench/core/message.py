"""What is asked of a language model, and what it says."""

from dataclasses import dataclass, field
from typing import Literal

from hbench.core.digest import Json, digest

Finish = Literal["stop", "length", "content_filter", "tool_calls", "unknown"]


@dataclass(frozen=True, slots=True)
class Message:
    role: str
    content: str

    def to_json(self) -> Json:
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True, slots=True)
class Sampling:
    """temperature 0 is greedy. max_tokens bounds the completion. Zero values reach the server as zeros."""

    temperature: float = 0.0
    max_tokens: int = 512
    top_p: float = 1.0
    stop: tuple[str, ...] = ()
    extra: Json = field(default_factory=dict)  # passed on as it is: min_p, presence_penalty, chat_template_kwargs …

    def to_json(self) -> Json:
        return {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "top_p": self.top_p,
            "stop": list(self.stop),
            "extra": self.extra,
        }


@dataclass(frozen=True, slots=True)
class Request:
    """One call. seed: derived from (spec seed, question, repeat, n-th equal request); part of its identity."""

    messages: tuple[Message, ...]
    sampling: Sampling
    seed: int = 0
    tools: Json = None
    _known: list = field(default_factory=list, compare=False, repr=False)  # (identity, id): asked for more than once

    def id(self, model: Json) -> str:
        """64 hex digits of everything that can change the reply, `model` being the model's identity."""
        if not self._known or self._known[0] != model:
            messages = [m.to_json() for m in self.messages]
            found = digest([model, messages, self.tools, self.sampling.to_json(), self.seed])
            self._known[:] = [model, found]
        return self._known[1]


@dataclass(frozen=True, slots=True)
class Reply:
    """text: what the model said, without separate reasoning. An empty text is a true answer.

    seconds: how long it took when it was made (volatile). reused: taken from the reply store.
    """

    text: str
    finish_reason: Finish = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning: str = ""
    tool_calls: Json = None
    seconds: float = 0.0
    reused: bool = False

    @property
    def truncated(self) -> bool:
        return self.finish_reason == "length"


@dataclass(frozen=True, slots=True)
class LMError:
    """A request that got no reply: infrastructure, after retries. Never stored, never a score.

    kind: connection, timeout, rate_limit, server, bad_request, bad_reply, memory.
    """

    kind: str
    message: str
