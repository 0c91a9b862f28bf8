"""What a benchmark step asks of a model, and what comes back."""

from collections.abc import Sequence
from dataclasses import dataclass

from hbench.core.digest import Json
from hbench.core.model import ModelRef
from hbench.core.output import Row


@dataclass(frozen=True)
class BenchmarkJob:
    """tasks: lm-eval's names, of tasks or groups. shots: examples before each question; None: as each task says.

    limit: at most so many documents a task. chat: in the model's own chat template, examples as turns. seed: of what draws
    examples and, where a task samples, answers.
    """

    model: ModelRef
    tasks: tuple[str, ...]
    shots: int | None = None
    limit: int | None = None
    chat: bool = False
    seed: int = 1234

    def to_json(self) -> Json:
        """All but the model."""
        return {name: getattr(self, name) for name in ("tasks", "shots", "limit", "chat", "seed")}


@dataclass(frozen=True)
class Benchmarked:
    """rows: of the table benchmark_scores. documents: task -> how many. empty: share of generated answers without a text.

    ungraded: answers on which the grader broke; they count as 0.
    """

    rows: Sequence[Row]
    documents: Json
    empty: float = 0.0
    ungraded: int = 0
