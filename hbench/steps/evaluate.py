"""Run one harness on the questions of a split: J(h; Q), and every rollout as rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

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
        return Output(_summary(None, questions, [], params["grade"]))
    setting = RunSetting.of(params)
    harness = Harness(value["files"])
    rollouts = _run_missing(harness, questions, setting, services)
    rows = {"harnesses": harness_rows(harness), "models": [model_row(setting.solver, services.engine(setting.solver))]}
    return Output(_summary(value, questions, rollouts, setting.grade), rows)


def _run_missing(
    harness: Harness, questions: Sequence[Question], setting: RunSetting, services: Services
) -> list[Rollout]:
    """All rollouts in order of question and repeat: those an earlier try finished, and the rest run now."""
    part = services.part
    found = rollouts_from_rows(part.rows("rollouts"), part.rows("grades"))
    done = {(r.question_id, r.repeat) for r in found}
    total = len(questions) * setting.repeats

    def keep(rollout: Rollout) -> None:
        part.append(rollout_rows(rollout, setting.grade))
        found.append(replace(rollout, events=(), output=""))  # they are rows now; memory must not grow with them
        services.report_progress(len(found), total)

    services.report_progress(len(found), total)
    services.run_harness(harness, questions, setting, keep, skip=done)
    place = {question.id: i for i, question in enumerate(questions)}
    return sorted(found, key=lambda r: (place[r.question_id], r.repeat))


def _summary(value: Json, questions: Sequence[Question], rollouts: Sequence[Rollout], grade: str) -> Json:
    names = list(dict.fromkeys(name for r in rollouts for name in r.grades))
    grades = {name: _mean([r.grade(name) for r in rollouts]) for name in names}
    return {
        "harness": value,
        "harness_id": value["id"] if value else None,
        "score": grades.get(grade, 0.0) if rollouts else None,
        "grades": grades,
        "completion_rate": _mean([float(r.completed) for r in rollouts]),
        "n": len(questions),
        "question_ids": [q.id for q in questions],
        "tokens": sum(r.usage.completion_tokens for r in rollouts),
        "failures": dict(sorted(Counter(r.failure.kind for r in rollouts if r.failure).items())),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
