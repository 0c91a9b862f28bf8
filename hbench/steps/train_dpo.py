"""Preference optimisation of the student on rejected and accepted responses of the same state."""

from collections.abc import Mapping

from hbench.core.digest import Json
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.core.training import TrainingJob
from hbench.steps._checkpoint import checkpoint_output
from hbench.steps.run_setting import model_ref
from hbench.steps.trained import trained

VERSION = 1


def train_dpo(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: model, recipe (the spec's block), seed. inputs: `rows` (pair_rows), and `checkpoint` where training goes on
    from one, which then is also what the policy is held to. Value: checkpoint, updates, loss_first, loss_last; files:
    checkpoint. Raises StepError.

    A try after a kill goes on from the last checkpoint in the part folder.
    """
    model, rows = trained(model_ref(params["model"]), inputs), inputs["rows"]
    file = rows.folder / "files" / rows.value["file"]
    made = services.train(TrainingJob("dpo", model, params["recipe"], params["seed"], rows=file))
    return checkpoint_output(made, model, "loss", services)
