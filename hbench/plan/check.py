"""What every plan must satisfy before it runs."""

from collections.abc import Mapping

from hbench.core.failure import HbenchError
from hbench.plan.plan import Plan
from hbench.plan.step import Step

# The only kinds that evaluation questions may reach. All of them measure; none feeds a proposer, a rule or a trainer.
MAY_SEE_EVALUATION = frozenset({"split", "evaluate", "act"})

# What each kind reads: input name (a number after it stands for any) -> kinds it may come from.
READS: Mapping[str, Mapping[str, frozenset[str]]] = {
    "harness": {},
    "split": {},
    "evaluate": {"harness": frozenset({"harness", "propose", "select"}), "questions": frozenset({"split"})},
    "report": {
        "evaluated": frozenset({"evaluate"}),
        "questions": frozenset({"split"}),
        "history": frozenset({"select"}),
    },
    "propose": {"report": frozenset({"report"})},
    "reward": {
        "candidate": frozenset({"propose"}),
        "trial": frozenset({"evaluate"}),
        "parent": frozenset({"evaluate"}),
    },
    "select": {
        "parent": frozenset({"evaluate"}),
        "candidate": frozenset({"evaluate"}),
        "edit": frozenset({"propose"}),
    },
}


class PlanError(HbenchError):
    """The plan would be wrong to run. The message names the steps."""


def check(plan: Plan) -> None:
    """Raises PlanError when inputs do not fit, a step comes before its input, or evaluation questions leak."""
    _inputs_fit(plan)
    _no_leak(plan)


def _inputs_fit(plan: Plan) -> None:
    seen: set[str] = set()
    for step in plan.steps:
        for name, source in step.parents().items():
            if source.id not in seen:
                raise PlanError(f"{plan.label_of(step.id)}: input {name!r} comes from a later step, or from itself")
            allowed = READS.get(step.kind, {}).get(name.rstrip("0123456789").rstrip("_"))
            if allowed is not None and source.kind not in allowed:
                raise PlanError(
                    f"{plan.label_of(step.id)}: {step.kind}.{name} reads {' or '.join(sorted(allowed))}, not {source.kind}"
                )
        seen.add(step.id)


def _no_leak(plan: Plan) -> None:
    """One pass in topological order: a step is touched when an evaluation split is, or an input is touched."""
    touched: dict[str, Step] = {}
    for step in plan.steps:
        source = step if _is_evaluation_split(step) else _first_touched(step, touched)
        if source is None:
            continue
        touched[step.id] = source
        if step.kind not in MAY_SEE_EVALUATION:
            raise PlanError(
                f"evaluation questions would reach {plan.label_of(step.id)!r} ({step.kind}); "
                f"only {', '.join(sorted(MAY_SEE_EVALUATION))} may see them"
            )


def _first_touched(step: Step, touched: Mapping[str, Step]) -> Step | None:
    return next((touched[p.id] for p in step.parents().values() if p.id in touched), None)


def _is_evaluation_split(step: Step) -> bool:
    return step.kind == "split" and step.params.get("role") == "evaluation"
