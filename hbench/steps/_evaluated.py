"""What a harness's rollouts on some questions come to: an evaluate step's value, also of rollouts in memory."""

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hbench.core.digest import Json
from hbench.core.harness import Harness
from hbench.core.question import Question
from hbench.core.rollout import Rollout
from hbench.steps._rollout_rows import rollout_rows
from hbench.steps.harness import harness_value


class Tally:
    """Sums over rollouts, the same in whatever order they end; what a rollout said is a row by then and is not kept."""

    def __init__(self) -> None:
        self.grades: dict[str, array] = {}
        self.failures: Counter[str] = Counter()
        self.rollouts = self.completed = self.tokens = 0

    def add(self, rollout: Rollout) -> None:
        self.rollouts += 1
        self.completed += rollout.completed
        self.tokens += rollout.usage.completion_tokens
        if rollout.failure:
            self.failures[rollout.failure.kind] += 1
        for name, value in rollout.grades.items():
            self.grades.setdefault(name, array("d")).append(value)

    def mean(self, name: str) -> float:
        """Over all rollouts, in [0, 1]; exact sums, so that their order does not show in the last digit."""
        return math.fsum(self.grades.get(name, ())) / self.rollouts if self.rollouts else 0.0


def summary(value: Json, questions: Sequence[Question], tally: Tally, grade: str) -> Json:
    return {
        "harness": value,
        "harness_id": value["id"] if value else None,
        "score": tally.mean(grade) if tally.rollouts else None,
        "grades": {name: tally.mean(name) for name in sorted(tally.grades)},
        "completion_rate": tally.completed / tally.rollouts if tally.rollouts else 0.0,
        "n": len(questions),
        "question_ids": [q.id for q in questions],
        "tokens": tally.tokens,
        "failures": dict(sorted(tally.failures.items())),
    }


@dataclass(frozen=True)
class InMemory:
    """Rollouts that no step holds, in the shape of an evaluate step's artifact: what reports are made of."""

    value: Json
    by_table: Mapping[str, list[dict]]

    @classmethod
    def of(cls, harness: Harness, questions: Sequence[Question], rollouts: Sequence[Rollout], grade: str) -> "InMemory":
        """`rollouts` of `harness` on `questions`, each with its events. grade: the one that counts as the score."""
        tally, by_table = Tally(), {}
        for rollout in rollouts:
            tally.add(rollout)
            for table, rows in rollout_rows(rollout, grade).items():
                by_table.setdefault(table, []).extend(rows)
        return cls(summary(harness_value(harness), questions, tally, grade), by_table)

    def rows(self, table: str) -> list[dict]:
        return self.by_table.get(table, [])
