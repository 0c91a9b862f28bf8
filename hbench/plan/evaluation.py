"""Evaluation: fixed harnesses, measured on held-out questions."""

from hbench.plan.layout import Layout, Tag
from hbench.plan.measure import held_out, seed_harness, split


def evaluation(lay: Layout) -> None:
    """Lays down one arm: its harness on the evaluation questions."""
    harness = seed_harness(lay)
    lay.outputs[f"{lay.arm}/held_out"] = held_out(lay, harness, split(lay, "evaluation"), Tag("held_out", "held out"))
