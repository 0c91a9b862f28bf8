"""Run one harness on the questions of a split: J(h; Q), and every rollout as rows."""

from collections.abc import Mapping, Sequence

from hbench.core.digest import Json
from hbench.core.harness import Harness
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.core.question import Question
from hbench.core.rollout import Rollout
from hbench.steps._evaluated import Tally, summary
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
        return Output(summary(None, questions, Tally(), params["grade"]))
    setting = RunSetting.of(params)
    harness = Harness(value["files"])
    tally = _run_missing(harness, questions, setting, services)
    rows = {"harnesses": harness_rows(harness), "models": [model_row(setting.solver, services.engine(setting.solver))]}
    return Output(summary(value, questions, tally, setting.grade), rows)


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
