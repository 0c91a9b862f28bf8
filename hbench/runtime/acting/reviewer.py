"""One reviewer beside one rollout: each proposal is passed or replaced before it runs (Harness-Zero, section 3.2)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hbench.core.action import Tool
from hbench.core.digest import Json
from hbench.core.message import LMError, Message, Reply
from hbench.core.trajectory import Span
from hbench.steps.act_setting import Review

Ask = Callable[[list[Message]], Awaitable[Reply | LMError]]
RunPython = Callable[..., Awaitable[Json]]  # Jails.python


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What became of one proposal: the fields of the same names in core.trajectory.Turn.

    accepted: what is to be executed; the proposal itself, byte for byte, when passed. trouble: "" where the reviewer had
    its say; else unreviewed (not a turn that is reviewed), budget, malformed, leaked, forged, unknown_component, timeout
    or context: the proposal is passed.
    """

    accepted: str
    verdict: Literal["pass", "replace"] = "pass"
    hidden: tuple[Span, ...] = ()
    reason: str = ""
    components: tuple[str, ...] = ()
    tries: int = 0
    checks: tuple[str, ...] = ()
    trouble: str = ""


class ReviewSession:
    """The reviewer of one rollout. Make one a rollout, call `turn` once a turn, in order; it lives in memory alone.

    tools, call: the student's actions, and how it writes them. ask: sends the reviewer's conversation and gives what the
    LM gave (`LM.generate([request])[0]`, an LMError as it is: the session decides which is an outcome and which a
    StepError). run_python: Jails.python, for the checks of the guidance. gold: the right answer, only for an oracle.
    """

    def __init__(
        self,
        review: Review,
        tools: Sequence[Tool],
        call: Any,
        ask: Ask,
        run_python: RunPython,
        gold: Json = None,
    ):
        raise NotImplementedError

    async def turn(self, seen: Sequence[Message], proposal: str) -> Reviewed:
        """The verdict on `proposal`, which the student said after `seen`: head, accepted responses, observations.

        seen: each time what it was the last time, and more. Raises StepError when the reviewer's model is down, or when
        `seen` is not a continuation; never for what the reviewer says.
        """
        raise NotImplementedError
