"""compile(spec) -> Plan: a spec's arms, laid down by the plan function that the spec names."""

import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hbench.plan.check import check
from hbench.plan.layout import Layout
from hbench.plan.plan import Plan


def compile(spec: Any) -> Plan:
    """The plan of one spec (one sweep point), all arms in it, shared steps once. Raises PlanError.

    `plan: adaptation` is laid down by hbench/plan/adaptation.py, and so on.
    """
    lay = Layout()
    function = getattr(importlib.import_module(f"hbench.plan.{spec.plan}"), spec.plan)
    with _no_garbage():
        for arm, block in spec.arms.items():
            lay.arm, lay.spec = arm, block
            function(lay)
        plan = lay.plan(spec)
        check(plan)
    return plan


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Plans of many steps would be looked through for garbage again and again, and make none: a third of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
