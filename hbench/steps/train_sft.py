"""Supervised fine-tuning: of the proposer on kept demonstrations, of the student on kept trajectories."""

from collections.abc import Mapping

from hbench.core.digest import Json
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.core.training import TrainingJob
from hbench.steps._checkpoint import checkpoint_output
from hbench.steps.run_setting import model_ref
from hbench.steps.trained import trained

VERSION = 1


def train_sft(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: model, recipe (the spec's block), seed. inputs: `rows` (sft_rows or trajectory_rows), and `checkpoint` where
    training goes on from one. Value: checkpoint, updates, loss_first, loss_last; files: checkpoint. Raises StepError.

    A try after a kill goes on from the last checkpoint in the part folder.
    """
    model, rows = trained(model_ref(params["model"]), inputs), inputs["rows"]
    file = rows.folder / "files" / rows.value["file"]
    made = services.train(TrainingJob("sft", model, params["recipe"], params["seed"], rows=file))
    return checkpoint_output(made, model, "loss", services)
