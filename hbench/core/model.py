"""Which model plays a role: its identity (hashed) and its sampling."""

from dataclasses import dataclass, field
from functools import cached_property

from hbench.core.digest import Json, digest
from hbench.core.message import Sampling


@dataclass(frozen=True)
class ModelRef:
    """name: the key under `machine.models` that says how it is reached (never hashed).

    identity: everything of the model that can change a reply: weights, revision, adapter key, chat template
    digest, dtype, quantisation, context length; for a recorded model its kind and the digest of its file.
    """

    role: str
    name: str
    identity: Json
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str | None = None  # the role's prompt file, e.g. proposer/search_replace

    @cached_property
    def digest(self) -> str:
        return digest(self.identity)

    def to_json(self) -> Json:
        """What a step's params hold of this model. `name` is left out: it is machine's."""
        return {"role": self.role, "identity": self.identity, "sampling": self.sampling.to_json()}
