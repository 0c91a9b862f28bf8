"""`machine.budget` and what calls cost: when a run stops, never what it finds; so nothing of it is hashed."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from hbench.spec.block import Block, Number, Whole
from hbench.spec.problems import Problem, did_you_mean
from hbench.spec.tree import Tree


class PriceBlock(Block):
    """What a model costs. Any currency will do, as long as it is one for all models and limits."""

    prompt: Number = Field(ge=0, description="Money for a million prompt tokens.")
    completion: Number = Field(ge=0, description="Money for a million completion tokens.")


class LimitBlock(Block):
    """The most that may be used. What the reply store answers is free."""

    calls: Whole | None = Field(None, ge=0, description="Calls of models; default: no limit.")
    tokens: Whole | None = Field(None, ge=0, description="Prompt and completion tokens; default: no limit.")
    cost: Number | None = Field(None, ge=0, description="Money, by machine.models.<name>.price; default: no limit.")
    wall_s: Number | None = Field(
        None, gt=0, description="Seconds: of the run since it began, of an arm while steps of it are at work; default: no limit."
    )

    def limits_cost(self) -> bool:
        return self.cost is not None


class BudgetBlock(LimitBlock):
    """The most that one run may use, and each of its arms. Looked at before every call; a new run has all of it again."""

    each_arm: LimitBlock = Field(default_factory=LimitBlock, description="Of each arm, but for those under `arms`.")
    arms: dict[str, LimitBlock] = Field({}, description="Arm -> its own limits, in place of each_arm's.")

    def limits_cost(self) -> bool:
        return any(block.cost is not None for block in (self, self.each_arm, *self.arms.values()))


def budget_problems(arms: Mapping[str, Any], tree: Tree) -> list[Problem]:
    """Limits that would limit nothing: of an arm that there is not, or of cost where a server's price is not said."""
    if not arms:
        return []
    machine = next(iter(arms.values())).machine
    unknown = {name: did_you_mean(name, arms) or f"there are: {', '.join(arms)}" for name in machine.budget.arms if name not in arms}
    problems = [
        Problem(tree.mark(("machine", "budget", "arms", name)), f"machine.budget.arms: there is no arm '{name}'", hint)
        for name, hint in unknown.items()
    ]
    free = sorted({ref.name for block in arms.values() for ref in block.models() if _unpriced(machine.models.get(ref.name))})
    if machine.budget.limits_cost() and free:
        hint = f"set machine.models.{free[0]}.price: {{prompt: …, completion: …}}, zeros where it costs nothing"
        what = f"machine.budget: a limit of cost, and no price of '{free[0]}', which a server answers"
        problems.append(Problem(tree.mark(("machine", "budget")), what, hint))
    return problems


def _unpriced(reach: Any) -> bool:
    """reach: the model's ReachBlock, or None. What hbench runs or starts itself is no bill of anybody's."""
    return reach is not None and reach.base_url is not None and reach.price is None
