"""Run tasks of lm-eval on a model, as it is or with what was trained laid on it: what did training take away?"""

from collections.abc import Mapping

from hbench.core.benchmark import BenchmarkJob
from hbench.core.digest import Json
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.steps.run_setting import model_ref, model_row
from hbench.steps.trained import trained

VERSION = 1


def benchmark(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: model, benchmark (tasks, shots, limit, chat, seed). inputs: `checkpoint`, where something was trained.

    Value: scores (task or group -> METRIC,FILTER -> value), documents (task -> how many), empty (share of generated answers
    without a text; many of them often mean that a task's stops do not suit the model), ungraded (answers on which the grader
    broke). Rows: benchmark_scores. What a model says is graded in the jail. Raises StepError.

    A try after a kill asks only what had no answer yet.
    """
    model, asked = trained(model_ref(params["model"]), inputs), params["benchmark"]
    job = BenchmarkJob(model, tuple(asked["tasks"]), asked["shots"], asked["limit"], asked["chat"], asked["seed"])
    made = services.benchmark(job)
    scores: dict[str, dict[str, float | None]] = {}
    for row in made.rows:
        scores.setdefault(row["benchmark"], {})[row["metric"]] = row["value"]
    value = {"scores": scores, "documents": made.documents, "empty": made.empty, "ungraded": made.ungraded}
    return Output(value, {"benchmark_scores": made.rows, "models": [model_row(model, services.engine(model))]})
