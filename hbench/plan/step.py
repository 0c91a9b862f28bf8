"""The nodes of a plan. Both are frozen values: what is shown is what will run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hbench.core.digest import Json, Told, digest_of_texts, json_text
from hbench.steps.step_kind import find


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """One node: a kind, everything that can change its result, and its inputs.

    id: digest of the recipe, known before running. The key, which names the artifact, is known once the inputs exist.
    """

    kind: str
    params: Json
    inputs: Mapping[str, "Step | Port"] = field(default_factory=dict)
    version: int = field(init=False)
    id: str = field(init=False)

    def __post_init__(self) -> None:
        """Raises KeyError for a kind that there is not."""
        inputs = {name: source.id for name, source in self.inputs.items()}
        params = self.params if type(self.params) is Told else Told(self.params)
        object.__setattr__(self, "version", find(self.kind).version)
        object.__setattr__(self, "id", self._digest(params.brief, inputs)[:32])

    def __getitem__(self, name: str) -> "Port":
        """One field of this step's value. A step that reads only a field is not run again when others change."""
        return Port(self, name)

    def parents(self) -> dict[str, "Step"]:
        """Input name -> the step it comes from."""
        return {name: source.step if isinstance(source, Port) else source for name, source in self.inputs.items()}

    def key(self, digests: Mapping[str, str]) -> str:
        """The artifact's name, from the content digests of the inputs (input name -> digest)."""
        params = self.params.text if type(self.params) is Told else json_text(self.params)
        return self._digest(params, digests)

    def _digest(self, params: str, inputs: Mapping[str, str]) -> str:
        return digest_of_texts(f'"{self.kind}"', str(self.version), params, json_text(dict(inputs)))


@dataclass(frozen=True, eq=False, slots=True)
class Port:
    """A field of a step's value, used as an input."""

    step: Step
    field: str

    @property
    def id(self) -> str:
        return f"{self.step.id}.{self.field}"
