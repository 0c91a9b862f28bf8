"""Candidates are scored on more and more questions, who can hardly win drops out, and the selection rule takes one of the rest."""

from collections.abc import Mapping, Sequence

from hbench.core.digest import Json
from hbench.core.output import Artifact, Output
from hbench.core.protocols import RaceRule, SelectionRule, Services
from hbench.core.question import Question
from hbench.core.scored import Scored
from hbench.core.standing import Standing
from hbench.parts.part import build
from hbench.steps._choosing import Round, round_value, selection_row, trial_of
from hbench.steps._entrants import Entrants, question_means
from hbench.steps.run_setting import RunSetting

VERSION = 1


def race(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: as of an evaluate step, with `race` (who goes on) and `rule` (who is chosen in the end, by score). inputs:
    `parent` (evaluate), `questions`, and for each slot `harness_i` (null after a failed edit) and `edit_i`.

    All meet the questions in their order. Who is dropped keeps the score of what it was run on, which no rule compares.
    Value: as of a select step, with `rollouts`, how many were run, and `full`, how many a scoring of all takes.
    Each rollout is durable when it ends; a try after a kill runs only what is missing.
    """
    setting, parent = RunSetting.of(params), inputs["parent"]
    questions = [Question.from_json(one) for one in inputs["questions"].value]
    made = {int(name.split("_")[1]): one.value for name, one in inputs.items() if name.startswith("harness_")}
    entrants, rule = Entrants(made, questions, setting, services), build("selections", params["rule"])
    _run(entrants, build("races", params["race"]), len(questions), _bar(rule, parent, questions))
    edits = {slot: inputs[f"edit_{slot}"].value for slot in made}
    told = Round(trial_of(parent), {slot: entrants.trial(slot) for slot in made}, edits)
    row = selection_row(rule, told)
    value = round_value(row, told) | {"rollouts": entrants.ran, "full": entrants.full}
    return Output(value, {"selections": [row], **entrants.rows()})


def _run(entrants: Entrants, rule: RaceRule, questions: int, bar: Sequence[float]) -> None:
    """To the end; bar: the parent's scores where candidates must be above them."""
    for done in (*rule.looks(questions), questions):
        entrants.run(done)
        if done < questions and entrants.racing:
            entrants.go_on(rule.survivors(Standing(entrants.scores(), questions, bar)))


def _bar(rule: SelectionRule, parent: Artifact, questions: Sequence[Question]) -> Sequence[float]:
    """The parent's score on each question; () where the rule would go down from it, or it did not run."""
    worse = rule.select(Scored("parent", 0.5), [Scored("candidate", 0.25, position=0)])
    if worse.position >= 0 or parent.value["harness"] is None:
        return ()
    return question_means(((row["question_id"], row["score"]) for row in parent.rows("rollouts")), questions)
