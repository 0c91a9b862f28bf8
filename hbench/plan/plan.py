"""A plan: the frozen graph of steps of one spec, and the labels under which people look for them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hbench.plan.step import Step


class Label(NamedTuple):
    """What a step is for in one arm. A step may carry several labels; none of them is hashed."""

    step_id: str
    arm: str
    family: str
    seed: int
    purpose: str
    label: str
    round: int | None = None
    slot: int | None = None


@dataclass(frozen=True)
class Plan:
    """steps: in topological order, each id once. outputs: name -> step, e.g. "main/final_harness"."""

    spec: Any  # hbench.spec.load.Spec
    steps: tuple[Step, ...]
    labels: tuple[Label, ...]
    outputs: Mapping[str, Step] = field(default_factory=dict)

    def label_of(self, step_id: str) -> str:
        """One label for people; the first one laid down."""
        found = next((x for x in self.labels if x.step_id == step_id), None)
        return f"{found.arm}: {found.label}" if found else step_id[:8]

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Rows of the tables specs, plan_steps, plan_labels and plan_edges."""
        digest = self.spec.digest
        edges = [(s.id, name, source.id) for s in self.steps for name, source in s.parents().items()]
        return {
            "specs": [_spec_row(self.spec)],
            "plan_steps": [{"spec_digest": digest, "step_id": s.id, "kind": s.kind} for s in self.steps],
            "plan_labels": [{"spec_digest": digest, **x._asdict()} for x in self.labels],
            "plan_edges": [{"spec_digest": digest, "step_id": i, "input": n, "from_step_id": f} for i, n, f in edges],
        }


def _spec_row(spec: Any) -> dict[str, Any]:
    return {
        "spec_digest": spec.digest,
        "name": spec.name,
        "plan": spec.plan,
        "file": str(spec.file),
        "point": spec.point,
        "text": spec.text,
    }
