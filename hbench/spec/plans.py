"""Every plan that a spec may name, and the class of its specs."""

from collections.abc import Mapping

from hbench.spec.distillation import DistillationSpec
from hbench.spec.schema import AdaptationSpec, EvaluationSpec
from hbench.spec.training import TrainingSpec

PLANS: Mapping[str, type] = {
    "adaptation": AdaptationSpec,
    "evaluation": EvaluationSpec,
    "training": TrainingSpec,
    "distillation": DistillationSpec,
}
