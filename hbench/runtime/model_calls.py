"""What one rollout asks of one model: seeds of its draws, and an event for each reply."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from hbench.core.digest import Json, derive_seed
from hbench.core.failure import StepError, ToolError
from hbench.core.message import LMError, Message, Reply, Request, Sampling
from hbench.core.model import ModelRef
from hbench.core.protocols import LM
from hbench.core.rollout import Event, Usage

NOBODY: Mapping[str, LM] = MappingProxyType({})


class TooLong(ToolError):
    """What is asked does not fit the model's context: the asker's own doing."""


class ModelCalls:
    """draw: what the rollout's seeds are derived from: spec seed, question id, repeat. events: where replies are noted.
    others: role -> the LM as it is asked in that role, where that is not `lm`.

    Equal requests inside one rollout are numbered, so whoever asks one prompt eight times gets eight draws, in any order,
    and the same on resume.
    """

    def __init__(
        self, model: ModelRef, lm: LM, draw: tuple[int, str, int], events: list[Event], others: Mapping[str, LM] = NOBODY
    ):
        self.model, self._lm, self._draw, self._events, self._others = model, lm, draw, events, others
        self._asked: Counter[tuple] = Counter()

    async def ask(
        self,
        messages: tuple[Message, ...],
        sampling: Sampling,
        tools: Json = None,
        sent: Json = None,
        role: str = "",
    ) -> Reply | LMError:
        """The reply, or the error as the LM gave it, which leaves no event.

        sent: what the event shows of the messages; all of them where it is None. role: who asks; the model's where "".
        """
        request = self._request(messages, sampling, tools)
        started = time.perf_counter()
        reply = (await self._others.get(role, self._lm).generate([request]))[0]
        if isinstance(reply, Reply):
            seconds = time.perf_counter() - started
            sent = [message.to_json() for message in messages] if sent is None else sent
            self._note(request, reply, seconds, sent, role or self.model.role)
        return reply

    def _request(self, messages: tuple[Message, ...], sampling: Sampling, tools: Json) -> Request:
        if sampling.temperature == 0:  # greedy: every equal request has one answer
            return Request(messages, sampling, 0, tools)
        same = (messages, sampling.temperature, sampling.max_tokens, sampling.stop)
        self._asked[same] += 1
        return Request(messages, sampling, derive_seed(*self._draw, self._asked[same]), tools)

    def _note(self, request: Request, reply: Reply, seconds: float, sent: Json, role: str) -> None:
        self._events.append(
            Event(
                "lm",
                sent,
                reply.text,
                role=role,
                model=self.model.digest[:16],
                request_id=request.id(self.model.identity),
                finish_reason=reply.finish_reason,
                prompt_tokens=reply.prompt_tokens,
                completion_tokens=reply.completion_tokens,
                seconds=seconds,
                reused=reply.reused,
            )
        )


def raise_for(reply: Reply | LMError, model: ModelRef) -> Reply:
    """The reply. Raises TooLong for a prompt that does not fit, StepError for all else: that is the machine's trouble."""
    if isinstance(reply, Reply):
        return reply
    if reply.kind == "too_long":
        raise TooLong(reply.message)
    raise StepError(f"the {model.role} gave no reply ({reply.kind}): {reply.message}")


def usage_of(events: Sequence[Event], seconds: float) -> Usage:
    """Sums over the events of a rollout."""
    prompt = sum(event.prompt_tokens for event in events)
    completion = sum(event.completion_tokens for event in events)
    return Usage(len(events), prompt, completion, seconds)
