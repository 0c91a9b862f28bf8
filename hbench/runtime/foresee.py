"""What a run would find in the store: for `hbench plan` and `hbench gc`, without running anything."""

from collections.abc import Iterator
from typing import Any

from hbench.core.digest import digest
from hbench.core.output import Artifact
from hbench.plan.plan import Plan
from hbench.plan.step import Port, Step


def foresee(plan: Plan, store: Any) -> dict[str, str]:
    """step id -> "cached" (the artifact is there), "to run" (its inputs are, it is not), "depends" (an input is not)."""
    return {step.id: "cached" if found else "to run" if key else "depends" for step, key, found in _walked(plan, store)}


def keys(plan: Plan, store: Any) -> Iterator[str]:
    """The keys of all steps whose inputs are there, finished or not."""
    return (key for _, key, _ in _walked(plan, store) if key)


def _walked(plan: Plan, store: Any) -> Iterator[tuple[Step, str | None, Artifact | None]]:
    """Each step with its key, None where an input is not there, and its artifact, None where it is not there."""
    artifacts: dict[str, Artifact] = {}
    for step in plan.steps:
        key = found = None
        if all(parent.id in artifacts for parent in step.parents().values()):
            key = step.key({name: _digest(source, artifacts) for name, source in step.inputs.items()})
            found = store.get(key)
        if found:
            artifacts[step.id] = found
        yield step, key, found


def _digest(source: Step | Port, artifacts: dict[str, Artifact]) -> str:
    if isinstance(source, Step):
        return artifacts[source.id].digest
    return digest(artifacts[source.step.id].value[source.field])
