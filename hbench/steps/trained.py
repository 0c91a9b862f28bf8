"""A model of a step's params with what an earlier step trained laid on it."""

from collections.abc import Mapping

from hbench.core.model import ModelRef
from hbench.core.output import Artifact
from hbench.core.training import CHECKPOINT


def trained(model: ModelRef, inputs: Mapping[str, Artifact]) -> ModelRef:
    """`model` with the input `checkpoint` (a training step's) laid on it; itself where there is no such input."""
    made = inputs.get("checkpoint")
    return model if made is None else model.trained(made.value, made.folder / "files" / CHECKPOINT)
