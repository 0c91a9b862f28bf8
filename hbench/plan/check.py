"""What every plan must satisfy before it runs."""

from collections.abc import Mapping
from functools import cache

from hbench.core.failure import HbenchError
from hbench.plan.plan import Plan
from hbench.plan.step import Step

# The only kinds that evaluation questions may reach. All of them measure; none feeds a proposer, a rule or a trainer.
MAY_SEE_EVALUATION = frozenset({"split", "evaluate", "act", "behaviours"})

_TRAINS = frozenset({"train_sft", "train_grpo"})
_TEACHES = frozenset({"train_sft", "train_dpo"})
_BANKS = frozenset({"harness", "evolve"})

# What each kind reads: input name (what follows it after a _ stands for any) -> kinds it may come from.
READS: Mapping[str, Mapping[str, frozenset[str]]] = {
    "harness": {},
    "split": {},
    "evaluate": {
        "harness": frozenset({"harness", "propose", "select", "race", "keep", "carry"}),
        "questions": frozenset({"split"}),
    },
    "report": {
        "evaluated": frozenset({"evaluate"}),
        "questions": frozenset({"split"}),
        "history": frozenset({"select", "race", "carry"}),
    },
    "propose": {"report": frozenset({"report"}), "checkpoint": _TRAINS},
    "reward": {
        "candidate": frozenset({"propose"}),
        "trial": frozenset({"evaluate", "race"}),
        "parent": frozenset({"evaluate"}),
    },
    "select": {
        "parent": frozenset({"evaluate"}),
        "candidate": frozenset({"evaluate"}),
        "edit": frozenset({"propose"}),
    },
    "race": {
        "parent": frozenset({"evaluate"}),
        "questions": frozenset({"split"}),
        "harness": frozenset({"propose"}),
        "edit": frozenset({"propose"}),
    },
    "contexts": {"report": frozenset({"report"}), "from": frozenset({"carry"})},
    "demonstrate": {"contexts": frozenset({"contexts"}), "questions": frozenset({"split"})},
    "keep": {"demonstrations": frozenset({"demonstrate"}), "contexts": frozenset({"contexts"})},
    "sft_rows": {"keep": frozenset({"keep"}), "contexts": frozenset({"contexts"})},
    "train_sft": {"rows": frozenset({"sft_rows", "trajectory_rows"}), "checkpoint": _TRAINS},
    "train_grpo": {
        "contexts": frozenset({"contexts"}),
        "questions": frozenset({"split"}),
        "feedback": frozenset({"split"}),
        "checkpoint": _TRAINS,
    },
    "act": {
        "questions": frozenset({"split"}),
        "apart": frozenset({"split"}),
        "bank": _BANKS,
        "guidance": frozenset({"harness", "guidance"}),
        "checkpoint": _TEACHES,
        "failed": frozenset({"act"}),
    },
    "evolve": {
        "acted": frozenset({"act"}),
        "bank": _BANKS,
        "components": frozenset({"evolve"}),
    },
    "guidance": {"bank": _BANKS},
    "keep_trajectories": {
        "acted": frozenset({"act"}),
        "bank": _BANKS,
        "guidance": frozenset({"harness", "guidance"}),
    },
    "trajectory_rows": {"acted": frozenset({"act"}), "kept": frozenset({"keep_trajectories"})},
    "pair_rows": {"acted": frozenset({"act"}), "kept": frozenset({"keep_trajectories"})},
    "train_dpo": {"rows": frozenset({"pair_rows"}), "checkpoint": _TEACHES},
    "behaviours": {"acted": frozenset({"act"})},
    "benchmark": {"checkpoint": _TRAINS | _TEACHES},
    "carry": {"trained": frozenset({"train_grpo"}), "contexts": frozenset({"contexts"})},
}


class PlanError(HbenchError):
    """The plan would be wrong to run. The message names the steps."""


def check(plan: Plan) -> None:
    """Raises PlanError when inputs do not fit, a step comes before its input, or evaluation questions leak."""
    seen: set[str] = set()
    touched: set[str] = set()
    for step in plan.steps:
        parents = step.parents()
        for name, source in parents.items():
            if source.id not in seen:
                raise PlanError(f"{plan.label_of(step.id)}: input {name!r} comes from a later step, or from itself")
            _fits(plan, step, name, source)
        seen.add(step.id)
        if _is_evaluation_split(step) or any(source.id in touched for source in parents.values()):
            touched.add(step.id)
            _may_see_evaluation(plan, step)


def _fits(plan: Plan, step: Step, name: str, source: Step) -> None:
    allowed = _allowed(step.kind, name)
    if allowed is not None and source.kind not in allowed:
        wanted = " or ".join(sorted(allowed))
        raise PlanError(f"{plan.label_of(step.id)}: {step.kind}.{name} reads {wanted}, not {source.kind}")


@cache
def _allowed(kind: str, name: str) -> frozenset[str] | None:
    """The kinds that this input may come from; None where the kind has no such input."""
    return next((kinds for known, kinds in READS.get(kind, {}).items() if f"{name}_".startswith(f"{known}_")), None)


def _may_see_evaluation(plan: Plan, step: Step) -> None:
    if step.kind not in MAY_SEE_EVALUATION:
        raise PlanError(
            f"evaluation questions would reach {plan.label_of(step.id)!r} ({step.kind}); "
            f"only {', '.join(sorted(MAY_SEE_EVALUATION))} may see them"
        )


def _is_evaluation_split(step: Step) -> bool:
    return step.kind == "split" and step.params.get("role") == "evaluation"
