"""What both training steps give back: a checkpoint, its rows, and where a logged value began and ended."""

from hbench.core.digest import Json
from hbench.core.model import ModelRef
from hbench.core.output import Output
from hbench.core.protocols import Services
from hbench.core.training import CHECKPOINT, Trained
from hbench.steps.run_setting import model_row


def checkpoint_output(made: Trained, model: ModelRef, watched: str, services: Services, more: Json = None) -> Output:
    """model: what was trained, checkpoint and all. watched: the name in `updates` whose first and last value are told."""
    rows = (row for row in made.rows.get("updates", ()) if row["name"] == watched and row.get("value") is not None)
    logged = sorted((row["update"], row["value"]) for row in rows)
    trained = model_row(model, services.engine(model))
    row = {
        "role": model.role,
        "base_model": trained["model"],
        "folder": CHECKPOINT,
        "sha256": made.checkpoint["sha256"],
    }
    value = {
        "checkpoint": made.checkpoint,
        "updates": made.updates,
        f"{watched}_first": logged[0][1] if logged else None,
        f"{watched}_last": logged[-1][1] if logged else None,
        **(more or {}),
    }
    return Output(value, {**made.rows, "checkpoints": [row], "models": [trained]}, {CHECKPOINT: made.folder})
