"""A harness with what it scored: what selection rules compare."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scored:
    """name: harness id. score: J(h; Q) in [0, 1], or None when it was not run (a failed edit, a dropped candidate).

    questions: the ids it was scored on; two scores compare only when these are equal. position: order of proposal, -1 the parent.
    tokens, prompt_tokens: what its solver calls answered and were asked, over all its rollouts.
    """

    name: str
    score: float | None
    questions: frozenset[str] = frozenset()
    position: int = -1
    completion_rate: float = 1.0
    tokens: float = 0.0
    prompt_tokens: float = 0.0
