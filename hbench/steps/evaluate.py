"""Run one harness on the questions of a split: J(h; Q), and every rollout as rows."""

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence

from hbench.core.digest import Json
from hbench.core.harness import Harness
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.core.question import Question
from hbench.core.rollout import Rollout
from hbench.steps._rollout_rows import rollout_rows, rollouts_from_rows
from hbench.steps.harness import harness_rows
from hbench.steps.run_setting import RunSetting, model_row

VERSION = 1


def evaluate(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """inputs: `harness` (null after a failed edit: nothing is run, score null) and `questions`.

    Value: harness, harness_id, score (mean over questions and repeats), grades (name -> mean), completion_rate,
    all in [0, 1]; n questions, question_ids, tokens (completion tokens in all), failures (kind -> count).
    Each rollout is durable when it ends; a try after a kill runs only what is missing.
    """
    value = inputs["harness"].value
    questions = [Question.from_json(q) for q in inputs["questions"].value]
    if value is None:
        return Output(_summary(None, questions, Tally(), params["grade"]))
    setting = RunSetting.of(params)
    harness = Harness(value["files"])
    tally = _run_missing(harness, questions, setting, services)
    rows = {"harnesses": harness_rows(harness), "models": [model_row(setting.solver, services.engine(setting.solver))]}
    return Output(_summary(value, questions, tally, setting.grade), rows)


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


def _run_missing(harness: Harness, questions: Sequence[Question], setting: RunSetting, services: Services) -> Tally:
    """All rollouts: those an earlier try finished, and the rest run now."""
    part, tally = services.part, Tally()
    before = rollouts_from_rows(part.rows("rollouts"), part.rows("grades"))
    for rollout in before:
        tally.add(rollout)
    done = {(r.question_id, r.repeat) for r in before}
    total = len(questions) * setting.repeats

    def keep(rollout: Rollout) -> None:
        part.append(rollout_rows(rollout, setting.grade))
        tally.add(rollout)
        services.report_progress(tally.rollouts, total)

    services.report_progress(tally.rollouts, total)
    services.run_harness(harness, questions, setting, keep, skip=done)
    return tally


def _summary(value: Json, questions: Sequence[Question], tally: Tally, grade: str) -> Json:
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
