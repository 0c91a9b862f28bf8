"""Step kinds: one file, one function. `steps/evaluate.py` holds `evaluate(params, inputs, services) -> Output`."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from pathlib import Path

from hbench.core.output import Output

_NOT_KINDS = {"__init__", "step_kind", "trial", "trained", "run_setting", "act_setting", "edit_reward"}


@dataclass(frozen=True)
class StepKind:
    """version: the module's VERSION (1 when it has none), raised when the step's behaviour changes; it is hashed.

    text: what the step does, then what it is given and gives.
    """

    name: str
    version: int
    run: Callable[..., Output]
    text: str = ""


def names() -> list[str]:
    """Every step kind, sorted."""
    return sorted(f.stem for f in Path(__file__).parent.glob("*.py") if f.stem not in _NOT_KINDS and f.stem[0] != "_")


@cache
def find(kind: str) -> StepKind:
    """The step kind of that name. Raises KeyError when there is none."""
    if kind not in names():
        raise KeyError(f"no step kind {kind!r} (there are {', '.join(names())})")
    module = importlib.import_module(f"hbench.steps.{kind}")
    run = getattr(module, kind)
    return StepKind(kind, getattr(module, "VERSION", 1), run, f"{module.__doc__}\n\n{cleandoc(run.__doc__ or '')}")
