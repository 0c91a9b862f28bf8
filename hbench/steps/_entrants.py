"""The candidates of a race: each distinct harness once, all that are still in it at the same time."""

import math
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.protocols import Services
from hbench.core.question import Question
from hbench.core.rollout import Rollout
from hbench.steps._at_once import at_once
from hbench.steps._choosing import Trial
from hbench.steps._evaluated import Tally, summary
from hbench.steps._raced import not_run_rows
from hbench.steps._rollout_rows import rollout_rows, rollouts_by_candidate
from hbench.steps.harness import harness_rows
from hbench.steps.run_setting import RunSetting, model_row


class Entrants:
    """made: slot -> harness as it stands in a value, or None after a failed edit. Equal harnesses run under the first slot.

    racing: the slots that are still in it. What an earlier try of the step finished is not run again.
    """

    def __init__(self, made: Mapping[int, Json], questions: Sequence[Question], setting: RunSetting, services: Services):
        self._made, self._questions, self._setting, self._services = made, questions, setting, services
        first: dict[str, int] = {}
        self._ran_as = {slot: first.setdefault(one["id"], slot) if one else slot for slot, one in sorted(made.items())}
        self._harnesses = {slot: Harness(made[slot]["files"]) for slot in sorted(first.values())}
        before = rollouts_by_candidate(services.part)
        self._rollouts = {slot: before.get(slot, []) for slot in self._harnesses}
        self._reach = dict.fromkeys(self._harnesses, 0)  # on how many questions each was run
        self._counting = threading.Lock()
        self.racing: tuple[int, ...] = tuple(self._harnesses)

    @property
    def ran(self) -> int:
        """Rollouts so far."""
        return sum(map(len, self._rollouts.values()))

    @property
    def full(self) -> int:
        """Rollouts of a scoring of all on all questions."""
        return len(self._harnesses) * len(self._questions) * self._setting.repeats

    def run(self, done: int) -> None:
        """Runs all that are racing on the first `done` questions. Raises StepError."""
        self._services.report_progress(self.ran, self.full)
        found = at_once([partial(self._run, slot, self._questions[:done]) for slot in self.racing])
        if trouble := next((one for one in found if isinstance(one, StepError)), None):
            raise trouble
        self._reach |= dict.fromkeys(self.racing, done)

    def _run(self, slot: int, questions: Sequence[Question]) -> None:
        def keep(rollout: Rollout) -> None:
            self._services.part.append(rollout_rows(rollout, self._setting.grade, slot))
            with self._counting:
                self._rollouts[slot].append(rollout.without_events())
                self._services.report_progress(self.ran, self.full)

        skip = {(rollout.question_id, rollout.repeat) for rollout in self._rollouts[slot]}
        self._services.run_harness(self._harnesses[slot], questions, self._setting, keep, skip=skip)

    def scores(self) -> dict[int, list[float]]:
        """Slot -> its score on each question so far, of those that are racing."""
        grade = self._setting.grade
        return {
            slot: question_means(((r.question_id, r.grade(grade)) for r in self._rollouts[slot]), self._questions)
            for slot in self.racing
        }

    def go_on(self, survivors: Collection[int]) -> None:
        """Drops all others, for good."""
        self.racing = tuple(slot for slot in self.racing if slot in survivors)

    def trial(self, slot: int) -> Trial:
        """What its rollouts come to; of a failed edit, nothing."""
        rollouts, tally = self._rollouts.get(self._ran_as[slot], ()), Tally()
        for rollout in rollouts:
            tally.add(rollout)
        met = self._questions[: self._reach.get(self._ran_as[slot], 0)]
        asked = sum(rollout.usage.prompt_tokens for rollout in rollouts)
        return Trial(summary(self._made[slot], met, tally, self._setting.grade), asked)

    def rows(self) -> dict[str, list[dict[str, Json]]]:
        """What is still to be written at the end: how far each came, what was not run, the harnesses and the solver."""
        solver = self._setting.solver
        return {
            "races": [self._row(slot) for slot in self._made],
            "rollouts": [row for slot in self._harnesses for row in self._not_run(slot)],
            "harnesses": [row for harness in self._harnesses.values() for row in harness_rows(harness)],
            "models": [model_row(solver, self._services.engine(solver))] if self._harnesses else [],
        }

    def _row(self, slot: int) -> dict[str, Json]:
        value, ran_as = self.trial(slot).value, self._ran_as[slot]
        told = {"harness_id": value["harness_id"], "questions": value["n"], "score": value["score"]}
        return {"slot": slot, "candidate": ran_as, **told, "dropped": ran_as in self._harnesses and ran_as not in self.racing}

    def _not_run(self, slot: int) -> list[dict[str, Json]]:
        reach = self._reach[slot]
        message = f"its candidate left the race after {reach} of {len(self._questions)} questions"
        return not_run_rows(self._harnesses[slot].id, slot, self._questions[reach:], self._setting.repeats, message)


def question_means(scores: Iterable[tuple[str, float]], questions: Sequence[Question]) -> list[float]:
    """The mean score of each question that has one, in the order of `questions`. scores: (question id, score), in any order."""
    found: dict[str, list[float]] = {}
    for question, score in scores:
        found.setdefault(question, []).append(score)
    means = {question: math.fsum(some) / len(some) for question, some in found.items()}
    return [means[question.id] for question in questions if question.id in means]
