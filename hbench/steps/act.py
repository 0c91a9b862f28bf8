"""Let a student work on the questions of a split, with a bank or under review where there is one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.core.question import Question
from hbench.core.rollout import Rollout
from hbench.core.trajectory import Acted
from hbench.steps._acted_rows import acted_rows
from hbench.steps._evaluated import Tally
from hbench.steps._rollout_rows import rollouts_from_rows
from hbench.steps.act_setting import ActSetting
from hbench.steps.harness import harness_rows
from hbench.steps.run_setting import model_ref, model_row
from hbench.steps.trained import trained

VERSION = 2


def act(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: domain, target, outside, student, review, repeats, grade, seed. inputs: `questions`, and where there are any
    `bank`, `guidance`, `checkpoint`, `failed` (ids: only these questions are worked on) and `apart_…` (questions that none
    of these may be: what the student, its bank or its reviewer have learnt from).

    Value: questions (ids, in order), scores (id -> mean over repeats), failed (ids that scored below 1), harness_id, score
    and grades (means), completion_rate, all in [0, 1]; n questions, tokens, failures (kind -> count), turns, replaced.
    Each rollout is durable when it ends; a try after a kill runs only what is missing. Raises StepError.
    """
    questions = _asked(inputs)
    _check_apart(questions, inputs)
    bank, guidance = (_harness(inputs, name) for name in ("bank", "guidance"))
    student = trained(model_ref(params["student"]), inputs)
    setting = ActSetting.of(params, student, bank, guidance)
    sums = _run_missing(questions, setting, services)
    models = [] if setting.outside else [setting.student]
    models += [setting.review.reviewer] if setting.review else []
    rows = {"harnesses": harness_rows(setting.harness)}
    rows["models"] = [model_row(model, services.engine(model)) for model in models]
    return Output(_value(questions, setting, sums), rows)


def _asked(inputs: Mapping[str, Artifact]) -> list[Question]:
    questions = [Question.from_json(question) for question in inputs["questions"].value]
    if "failed" not in inputs:
        return questions
    failed = set(inputs["failed"].value)
    return [question for question in questions if question.id in failed]


def _check_apart(questions: Sequence[Question], inputs: Mapping[str, Artifact]) -> None:
    """Raises StepError, with their ids, when what is asked here was learnt from."""
    for name, made in inputs.items():
        if name.startswith("apart"):
            learnt = {question["content_id"] for question in made.value}
            if shared := sorted(question.id for question in questions if question.content_id in learnt):
                raise StepError(f"questions that were learnt from would be measured: {', '.join(shared)}")


def _harness(inputs: Mapping[str, Artifact], name: str) -> Harness | None:
    return Harness(inputs[name].value["files"]) if name in inputs else None


@dataclass
class _Sums:
    """Over all rollouts, in whatever order they end."""

    tally: Tally = field(default_factory=Tally)
    scores: dict[tuple[str, int], float] = field(default_factory=dict)
    turns: int = 0
    replaced: int = 0

    def add(self, rollout: Rollout, turns: int, replaced: int, grade: str) -> None:
        self.tally.add(rollout)
        self.scores[rollout.question_id, rollout.repeat] = rollout.grade(grade)
        self.turns, self.replaced = self.turns + turns, self.replaced + replaced


def _run_missing(questions: Sequence[Question], setting: ActSetting, services: Services) -> _Sums:
    """All rollouts: those an earlier try finished, and the rest run now."""
    part, sums = services.part, _Sums()
    lived = {(row["question_id"], row["repeat"]): row for row in part.rows("trajectories")}
    for rollout in rollouts_from_rows(part.rows("rollouts"), part.rows("grades")):
        row = lived[rollout.question_id, rollout.repeat]
        sums.add(rollout, row["turns"], row["replaced"], setting.grade)
    done, total = set(sums.scores), len(questions) * setting.repeats

    def keep(acted: Acted) -> None:
        part.append(acted_rows(acted, setting.grade, setting.domain.name))
        sums.add(acted.rollout, len(acted.trajectory.turns), acted.trajectory.replaced, setting.grade)
        services.report_progress(sums.tally.rollouts, total)

    services.report_progress(sums.tally.rollouts, total)
    services.act(setting, questions, keep, skip=done)
    return sums


def _value(questions: Sequence[Question], setting: ActSetting, sums: _Sums) -> Json:
    tally, repeats = sums.tally, range(setting.repeats)
    scores = {q.id: math.fsum(sums.scores[q.id, repeat] for repeat in repeats) / setting.repeats for q in questions}
    return {
        "questions": [question.id for question in questions],
        "scores": scores,
        "failed": [name for name, score in scores.items() if score < 1.0],
        "harness_id": setting.harness.id,
        "score": tally.mean(setting.grade) if tally.rollouts else None,
        "grades": {name: tally.mean(name) for name in sorted(tally.grades)},
        "completion_rate": tally.completed / tally.rollouts if tally.rollouts else 0.0,
        "n": len(questions),
        "tokens": tally.tokens,
        "failures": dict(sorted(tally.failures.items())),
        "turns": sums.turns,
        "replaced": sums.replaced,
    }
