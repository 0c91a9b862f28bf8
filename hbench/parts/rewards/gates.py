"""Whether a candidate passes every gate of the QA set-up at once."""

import ast
from typing import Literal

from pydantic import Field

from hbench.core.candidate import Candidate
from hbench.core.syntax import parse
from hbench.parts.edits._lines import source_lines
from hbench.parts.part import Part


class Gates(Part):
    """1 when the program parses, has run, is at most `max_lines` long, and its scoring run completes on every question.

    All or nothing; one gate that fails costs the bonus and nothing else: the task score counts as measured.
    """

    kind: Literal["gates"] = "gates"
    weight: float = Field(0.10, description="0.1 in the paper (multi-hop QA), on top of exact match")
    max_lines: int = Field(200, ge=1, description="200 in the paper")

    def value(self, candidate: Candidate) -> float:
        """0 or 1. Looks at the program itself, whatever the edit format has checked."""
        if candidate.harness is None or not candidate.rollouts:
            return 0.0
        text = candidate.harness.text
        return float(
            _binds_run(text)
            and len(source_lines(text)) <= self.max_lines
            and all(rollout.completed for rollout in candidate.rollouts)
        )


def _binds_run(text: str) -> bool:
    """Whether `text` is Python that binds `run` at top level."""
    try:
        body = parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    defined = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    assigned = {target.id for node in body for target in _targets(node) if isinstance(target, ast.Name)}
    return "run" in defined | assigned


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) else []
