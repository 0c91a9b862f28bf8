"""Every plan that a spec may name, and the class of its specs."""

from collections.abc import Iterator, Mapping
from importlib import import_module

_WHERE = {
    "adaptation": ("schema", "AdaptationSpec"),
    "evaluation": ("schema", "EvaluationSpec"),
    "training": ("training", "TrainingSpec"),
    "distillation": ("distillation", "DistillationSpec"),
}


class _Plans(Mapping[str, type]):
    """Plan -> class, loaded when it is asked for: a spec has the blocks of one plan."""

    def __getitem__(self, plan: str) -> type:
        module, name = _WHERE[plan]
        return getattr(import_module(f"hbench.spec.{module}"), name)

    def __iter__(self) -> Iterator[str]:
        return iter(_WHERE)

    def __len__(self) -> int:
        return len(_WHERE)

    def __contains__(self, plan: object) -> bool:
        return plan in _WHERE


PLANS = _Plans()
