"""Benchmarks of a model before and after it was trained: leaves, which nothing reads."""

from hbench.core.digest import Json
from hbench.plan.layout import Layout, Tag
from hbench.plan.step import Port


def benchmark(lay: Layout, model: Json, checkpoint: Port | None) -> None:
    """Lays down what the spec's `benchmark` asks of `model` as it is, and with `checkpoint` laid on it where there is one."""
    if lay.spec.benchmark is None:
        return
    params = {"model": model, "benchmark": lay.json(lay.spec.benchmark)}
    lay.step("benchmark", params, {}, Tag("benchmark_before", "benchmarks before training"))
    if checkpoint is not None:
        tag = Tag("benchmark_after", "benchmarks after training")
        lay.outputs[f"{lay.arm}/benchmark"] = lay.step("benchmark", params, {"checkpoint": checkpoint}, tag)
