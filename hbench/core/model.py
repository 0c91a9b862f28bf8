"""Which model plays a role: its identity (hashed) and its sampling."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from hbench.core.digest import Json, digest
from hbench.core.message import Sampling

TRAINED = ("adapter", "trained")  # keys of an identity: a LoRA adapter, or whole weights in place of the base's


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
    files: Path | None = None  # where what was trained lies: an adapter, or whole weights

    @cached_property
    def digest(self) -> str:
        return digest(self.identity)

    @cached_property
    def base(self) -> Json:
        """The identity without what training added: machine settings are found by it."""
        return {key: value for key, value in self.identity.items() if key not in TRAINED}

    def trained(self, checkpoint: Json, folder: Path) -> "ModelRef":
        """This model with a checkpoint laid on it. checkpoint: {"kind": adapter or weights, "sha256"}; folder: its files."""
        key = "adapter" if checkpoint["kind"] == "adapter" else "trained"
        return replace(self, identity={**self.base, key: checkpoint["sha256"]}, files=folder)

    def to_json(self) -> Json:
        """What a step's params hold of this model. `name` is left out: it is machine's."""
        return {"role": self.role, "identity": self.identity, "sampling": self.sampling.to_json()}
