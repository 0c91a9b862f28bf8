"""Lays steps down: equal steps once, each under the labels of every arm that uses it."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hbench.core.digest import Json, Told, derive_seed, digest
from hbench.plan.plan import Label, Plan
from hbench.plan.step import Port, Step


@dataclass
class Layout:
    """A plan being written. `arm` and `family` say for whom the next steps are laid down."""

    steps: dict[str, Step] = field(default_factory=dict)
    labels: list[Label] = field(default_factory=list)
    outputs: dict[str, Step] = field(default_factory=dict)
    arm: str = "main"
    spec: Any = None  # the arm's validated block
    checkpoint: Port | None = None  # what is laid on the arm's proposer
    made: dict[str, Any] = field(default_factory=dict)  # parts of the plan that arms share, laid down once
    _asked: dict[Any, tuple[Any, Any]] = field(default_factory=dict)

    def step(self, kind: str, params: Json, inputs: dict[str, Step | Port], label: "Tag") -> Step:
        """The step of that recipe, new or already laid down by another arm."""
        made = Step(kind, params, inputs)
        made = self.steps.setdefault(made.id, made)
        self.labels.append(Label(made.id, self.arm, self.spec.subject.name, self.spec.seed, *label))
        return made

    def json(self, block: Any) -> Json:
        """`block.to_json()`, asked for once: a family may look at files to say which version of them it reads."""
        return self.told("json", block, lambda: block.to_json())

    def model(self, role: str) -> Json:
        """The model that plays `role`, as steps' params hold it."""
        block = getattr(self.spec, role)
        return self.told(role, block, lambda: block.ref(role).to_json())

    def described(self) -> Json:
        """The name of the family or domain and what it asks, as models are told."""
        subject = self.spec.subject
        return self.told("described", subject, lambda: {"name": subject.name, "description": subject.describe()})

    def reward(self) -> Json:
        """The terms of a reward, as steps' params hold them."""
        return self.told(f"reward by {self.spec.grade}", self.spec.reward, self.spec.reward_json)

    def on(self, whole: Any, subject: Any) -> Any:
        """The arm's block `whole` for one of its families or domains: the same one whenever it is asked for."""
        return self._ask(("on", id(subject)), whole, lambda: whole.on(subject))

    def told(self, how: Hashable, block: Any, tell: Callable[[], Json]) -> Told:
        """What `tell` gives for this very block, asked once. how: tells apart what is told of one block."""
        return self._ask(how, block, lambda: Told(tell()))

    def _ask(self, how: Hashable, block: Any, make: Callable[[], Any]) -> Any:
        known = self._asked.get((how, id(block)))
        if known is None:
            known = self._asked[how, id(block)] = (block, make())  # kept alive, so that no other block gets its id
        return known[1]

    def once(self, name: str, recipe: Json, lay_down: Callable[[], Any]) -> Any:
        """What `lay_down` gives, called for the first arm that has this recipe; its steps carry that arm's labels."""
        key = digest([name, recipe])
        if key not in self.made:
            self.made[key] = lay_down()
        return self.made[key]

    def seed(self, *parts: Json) -> int:
        """A seed of its own for everything that draws, derived from the spec's."""
        return derive_seed(self.spec.seed, *parts)

    def plan(self, spec: Any) -> Plan:
        return Plan(spec, tuple(self.steps.values()), tuple(dict.fromkeys(self.labels)), dict(self.outputs))


class Tag(NamedTuple):
    """What a step is for: purpose (see the table plan_labels), text for people, round and slot from 0."""

    purpose: str
    text: str
    round: int | None = None
    slot: int | None = None
