"""What a run would find in the store: for `hbench plan`, without running anything."""

from typing import Any

from hbench.core.digest import digest
from hbench.core.output import Artifact
from hbench.plan.plan import Plan
from hbench.plan.step import Port, Step


def foresee(plan: Plan, store: Any) -> dict[str, str]:
    """step id -> "cached" (the artifact is there), "to run" (its inputs are, it is not), "depends" (an input is not)."""
    artifacts: dict[str, Artifact] = {}
    states: dict[str, str] = {}
    for step in plan.steps:
        if not all(parent.id in artifacts for parent in step.parents().values()):
            states[step.id] = "depends"
            continue
        found = store.get(step.key({name: _digest(source, artifacts) for name, source in step.inputs.items()}))
        states[step.id] = "cached" if found else "to run"
        if found:
            artifacts[step.id] = found
    return states


def _digest(source: Step | Port, artifacts: dict[str, Artifact]) -> str:
    if isinstance(source, Step):
        return artifacts[source.id].digest
    return digest(artifacts[source.step.id].value[source.field])
