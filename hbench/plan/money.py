"""What the steps of a plan may cost at most, by the prices of the machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hbench.core.budget import Price
from hbench.plan.bounds import Bound
from hbench.plan.step import Step

DRAWN_HERE = {("train_grpo", "proposer")}  # by the trainer, from the model that it holds


@dataclass(frozen=True, slots=True)
class Money:
    """The most that calls may cost. whole: False where prompts are left out: only a model's `context` bounds them."""

    most: float = 0.0
    whole: bool = True

    def __add__(self, other: "Money") -> "Money":
        return Money(self.most + other.most, self.whole and other.whole)

    def __str__(self) -> str:
        return f"{self.most:,.2f}" + ("" if self.whole else " and prompts")


class Prices:
    """What the roles of each arm cost. spec: hbench.spec.load.Spec."""

    def __init__(self, spec: Any):
        self._of: dict[tuple[str, str], tuple[Price, int | None]] = {}
        for arm, block in spec.arms.items():
            for ref in block.models():
                price = spec.machine.model_settings(ref.name).get("price")
                if price:
                    self._of[arm, ref.role] = Price(**price), ref.identity.get("context")

    def __bool__(self) -> bool:
        return bool(self._of)

    def most(self, arm: str, step: Step, asked: Mapping[str, Bound]) -> dict[str, Money]:
        """Role -> what the calls of one step may cost. asked: its bounds."""
        return {role: self._most(arm, _payer(step, role), bound) for role, bound in asked.items()}

    def _most(self, arm: str, role: str, bound: Bound) -> Money:
        if (arm, role) not in self._of:
            return Money()
        price, context = self._of[arm, role]
        prompts = 0 if context is None else bound.calls * context
        return Money(price.of(prompts, bound.tokens), context is not None or not price.prompt or not bound.calls)


def _payer(step: Step, role: str) -> str:
    """The role whose model is paid for, "" for none."""
    if step.kind == "benchmark":
        return step.params["model"]["role"]
    return "" if (step.kind, role) in DRAWN_HERE else role


def told_budget(budget: Any) -> list[str]:
    """The limits of machine.budget, a line each. budget: the BudgetBlock."""
    arms = {"each arm": budget.each_arm} | {f"arm {name}": limit for name, limit in budget.arms.items()}
    lines = {who: _told(limit) for who, limit in ({"the run": budget} | arms).items()}
    return [f"  {who:<16} {told}" for who, told in lines.items() if told]


def _told(limit: Any) -> str:
    said = {"calls": limit.calls, "tokens": limit.tokens, "cost": limit.cost, "s": limit.wall_s}
    return ", ".join(f"{word} {most:,g}" if word == "cost" else f"{most:,g} {word}" for word, most in said.items() if most is not None)
