"""The table that `hbench plan` prints: the steps of every arm, what is there already, and what the rest may cost at most."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from hbench.plan.bounds import Bound, bounds
from hbench.plan.money import Money, Prices, told_budget
from hbench.plan.plan import Label, Plan
from hbench.plan.step import Step

ALL = "all"
LONG = 200  # an arm with more steps than this, or with several families, is told by what its steps are for


def show(plan: Plan, states: Mapping[str, str], every: bool = False) -> str:
    """Text for people. states: step id -> "cached", "to run" or "depends" (its key is not known yet).

    every: each step has a line of its own, however many there are.
    """
    lines = [f"{plan.spec.name}  spec {plan.spec.digest[:12]}  {len(plan.steps)} steps: {_tally(states.values())}"]
    if "depends" in states.values():
        lines.append("(depends: whether it is cached is known once the steps before it have run)")
    lines.append("")
    lines += _step_lines(plan, states, every) + ["", *_bound_lines(plan, states), *_absent_lines(plan), *_outside_lines(plan)]
    return "\n".join(lines)


def _absent_lines(plan: Plan) -> list[str]:
    """What questions are cut from or graded by, and is not on this machine."""
    found = {}
    for params in (step.params for step in plan.steps if step.kind == "split"):
        sort = "domain" if "domain" in params else "family"
        absent = [name for name, version in params[sort].get("libraries", {}).items() if version == "absent"]
        found |= {f"  {sort} {params[sort]['name']}: {', '.join(absent)}": None} if absent else {}
    return ["", "needed to run this plan, and not on this machine:", *found] if found else []


def _outside_lines(plan: Plan) -> list[str]:
    """What runs outside of the jail with the user's rights, said aloud."""
    told = {
        "evolve": "gets a copy of the bank and of failed training traces, without gold",
        "act": "gets a copy of each question's workspace",
    }
    words = {(step.kind, tuple(outside)): None for step in plan.steps if (outside := _outside(step))}
    lines = [f"  {' '.join(command)}\n    {told[kind]}" for kind, command in words]
    heading = "programs that run WITH YOUR RIGHTS, in no jail: they can read and change whatever you can"
    return ["", heading, *lines] if lines else []


def _outside(step: Step) -> Sequence[str]:
    """The words of the program that the step runs with the user's rights; () for none."""
    block = step.params.get({"evolve": "evolver", "act": "outside"}.get(step.kind, ""))
    return block.get("command", ()) if block else ()


def _tally(states) -> str:
    counts = Counter(states)
    return ", ".join(f"{counts[name]} {name}" for name in ("cached", "to run", "depends") if counts[name]) or "none"


def _step_lines(plan: Plan, states: Mapping[str, str], every: bool) -> list[str]:
    by_id = {step.id: step for step in plan.steps}
    arms: dict[str, list[Label]] = defaultdict(list)
    for label in plan.labels:
        arms[label.arm].append(label)
    lines = []
    for arm, labels in arms.items():
        lines.append(f"arm {arm}")
        if every or (len(labels) <= LONG and len({label.family for label in labels}) == 1):
            lines += [_line(label.label, by_id[label.step_id].kind, label.step_id[:8], states[label.step_id]) for label in labels]
        else:
            lines += _purpose_lines(labels, by_id, states, "domains" if plan.spec.plan == "distillation" else "families")
    return lines


def _purpose_lines(labels: Sequence[Label], by_id: Mapping[str, Step], states: Mapping[str, str], several: str) -> list[str]:
    """One line for all steps of one purpose; --every tells each. several: what steps may differ in, in words."""
    alike: dict[tuple[str, str], list[Label]] = defaultdict(list)
    for label in labels:
        alike[label.purpose, by_id[label.step_id].kind].append(label)
    lines = []
    for (purpose, kind), found in alike.items():
        families = len({label.family for label in found})
        told = f"{purpose}, {len(found)} steps" + (f", {families} {several}" if families > 1 else "")
        lines.append(_line(found[0].label if len(found) == 1 else told, kind, "", _tally(states[x.step_id] for x in found)))
    return lines


def _line(what: str, kind: str, step: str, state: str) -> str:
    return f"  {what:<42} {kind:<17} {step:<8}  {state}"


def left_to_run(plan: Plan, states: Mapping[str, str]) -> dict[str, Bound]:
    """Role -> the most that all steps which are not cached may ask of it."""
    every: dict[str, Bound] = defaultdict(Bound)
    for step in plan.steps:
        if states[step.id] != "cached":
            for role, cost in bounds(step).items():
                every[role] += cost
    return dict(every)


def _bound_lines(plan: Plan, states: Mapping[str, str]) -> list[str]:
    by_id, prices = {step.id: step for step in plan.steps}, Prices(plan.spec)
    asked: dict[tuple[str, str], Bound] = defaultdict(Bound)
    costs: dict[tuple[str, str], Money] = defaultdict(Money)
    counted: set[str] = set()
    for arm, step_id in dict.fromkeys((x.arm, x.step_id) for x in plan.labels if states[x.step_id] != "cached"):
        found = bounds(by_id[step_id])
        money = prices.most(arm, by_id[step_id], found)
        for who in (arm,) if step_id in counted else (arm, ALL):
            for role, bound in found.items():
                asked[who, role] += bound
                costs[who, role] += money[role]
        counted.add(step_id)
    lines = [_bound_line(*one, asked[one], costs[one] if prices else None) for one in sorted(asked, key=lambda one: one[0] == ALL)]
    if not lines:
        return ["nothing is left to run"]
    limits = told_budget(plan.spec.machine.budget)
    limits = ["machine.budget, which ends a run before it takes more:", *limits] if limits else []
    return ["still to run, at most (steps that arms share count in each, once in all):", *lines, *limits]


def _bound_line(arm: str, role: str, bound: Bound, cost: Money | None) -> str:
    told = "" if cost is None or bound.unknown else f"   cost {cost}"
    return f"  {arm:<16} {role:<10} {bound.told()}{told}"
