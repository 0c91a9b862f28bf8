"""What is wrong where a mapping with a `kind` is to stand: said alike for every such field, whatever stands there instead."""

from collections.abc import Sequence
from typing import Any

from hbench.spec.problems import Problem, did_you_mean, got
from hbench.spec.tree import Place, Tree, dotted

MAPPING = "a mapping"


def kind_problem(tree: Tree, place: Place, value: Any, kinds: Sequence[str], expected: str = MAPPING) -> Problem:
    """value: what stands at `place`, no mapping with one of these kinds. expected: what may stand there, in words; where that
    is more than a mapping, a text was taken for the kind."""
    name, mark = dotted(place), tree.mark(place)
    there = f"there are: {', '.join(kinds)}"
    if isinstance(value, dict) and value.get("kind") in (None, "???"):
        return Problem(mark, f"{name}.kind is missing", f"one of: {', '.join(kinds)}", incomplete=True)
    if isinstance(value, dict) or (isinstance(value, str) and expected != MAPPING):
        kind = value["kind"] if isinstance(value, dict) else value
        return Problem(tree.mark((*place, "kind")), f"{name}: no kind '{kind}'", did_you_mean(str(kind), kinds) or there)
    return Problem(mark, f"{name}: expected {expected}, got {got(value, mark.written)}", _written_out(value, kinds) or there)


def _written_out(value: Any, kinds: Sequence[str]) -> str:
    """How a text is written as a mapping: of a model it is likely the weights, else the kind."""
    if not isinstance(value, str):
        return ""
    if value in kinds or "weights" not in kinds:
        return f"write {{kind: {value}}}" if value in kinds else did_you_mean(value, kinds)
    return f"write {{weights: {value}}}; other kinds: {', '.join(kind for kind in kinds if kind != 'weights')}"
