"""A run's services for one step, which pays for what it asks of models."""

from collections.abc import Awaitable, Callable
from typing import Any

from hbench.core.budget import Price
from hbench.core.failure import StepError
from hbench.core.model import ModelRef
from hbench.core.protocols import LM
from hbench.core.question import Question
from hbench.runtime.budget import Payer, Purse


class Paid:
    """Everything is as in `run`, the RunServices, but for models."""

    def __init__(self, run: Any, purse: Purse):
        self._run, self.purse = run, purse

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def lm(self, model: ModelRef, role: str = "") -> LM:
        """The model; its calls are paid for by the step. role: who asks; the model's where ""."""
        return self._run.lm(model).paid_by(self.payer(model, role))

    def payer(self, model: ModelRef, role: str = "") -> Payer:
        """Who pays for the step's calls of the model, in that role, at this machine's price."""
        _, settings = self._run.reached(model)
        price = Price(**(settings.get("price") or {}))
        return self.purse.payer(model, price, role or model.role)


def as_far_as_paid(
    purse: Purse, play: Callable[[Question, int], Awaitable[Any]]
) -> Callable[[Question, int], Awaitable[Any]]:
    """`play`, or None in place of what cannot be played to its end; none is begun any more once a call was refused.

    So rollouts under way that ask for nothing more come to their end, and nothing that was paid for is lost.
    """

    async def played(question: Question, repeat: int) -> Any:
        purse.refused = purse.refused or purse.late()
        if purse.refused:
            return None
        try:
            return await play(question, repeat)
        except StepError:
            if purse.refused:
                return None
            raise

    return played
