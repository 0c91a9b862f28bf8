"""The reward of a proposer's completion: revised, tried on scoring questions, its terms summed, as adaptation records it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hbench.core.candidate import Candidate
from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.protocols import Services
from hbench.core.question import Question
from hbench.core.rollout import Rollout
from hbench.core.training import Generate, Response
from hbench.parts.part import build
from hbench.parts.rewards._total import reward_terms, stands_for_parent, total
from hbench.steps._at_once import at_once
from hbench.steps._candidate_rows import Rows, candidate_rows, term_rows
from hbench.steps._credit import Further
from hbench.steps._judged import Edit, Judged
from hbench.steps._rollout_rows import rollout_rows
from hbench.steps.run_setting import RunSetting
from hbench.steps.trial import revise, trial

__all__ = ["EditReward", "Judged"]


class EditReward:
    """Judges completions, one call at a time. `told` is what steps/train_grpo.py put into the job as its `reward`.

    limit_s: the longest wait for a round of trials; what is not there by then gives no reward.
    """

    def __init__(self, told: Json, services: Services, limit_s: float | None = None):
        self.contexts: Sequence[Json] = told["contexts"]
        self.terms = {name: build("rewards", block) for name, block in told["terms"].items()}
        self.settings = {name: RunSetting.of(block) for name, block in told["families"].items()}
        self.questions = {family: list(map(Question.from_json, some)) for family, some in told["questions"].items()}
        self._edit, self._no_change = build("edits", told["edit"]), told["no_change"]
        self._services, self._limit_s = services, limit_s
        self._parents: dict[tuple[int, str], tuple[Rollout, ...]] = {}  # rollouts of contexts' own harnesses
        self._further = Further(told) if told["credit"]["kind"] == "discounted" else None

    def __call__(self, asked: Sequence[tuple[int, Response]], generate: Generate | None = None) -> list[Judged]:
        """asked: (position of its edit context, completion). generate: needed where credit is discounted.

        Equal candidates of a context are run once; all run at the same time. Never raises for one completion's trouble.
        """
        edits = [Edit(i, Harness(self.contexts[i]["harness"]["files"]), response) for i, response in asked]
        judged = self.judge(edits)
        return self._further.credit(self, judged, generate) if self._further else judged

    def rows(self, judged: Judged, response: Response, number: int, **usage: Json) -> Rows:
        """A completion's rows but the one in `completions`: rollouts only for a candidate that ran itself.

        number: its candidate number. usage: prompt_tokens, completion_tokens, seconds, where known.
        """
        rows = candidate_rows(judged.candidate, response.finish_reason, number, **usage)
        rows["reward_terms"] = term_rows(judged.terms or {}, self.terms, number)
        if judged.same_as is None and judged.candidate.applied:
            grade = self.setting(judged.context).grade
            for rollout in judged.candidate.rollouts:
                for table, some in rollout_rows(rollout, grade, number).items():
                    rows.setdefault(table, []).extend(some)
        return rows

    def setting(self, context: int) -> RunSetting:
        return self.settings[self.contexts[context]["family"]]

    def judge(self, edits: Sequence[Edit]) -> list[Judged]:
        """Each edit's immediate reward."""
        candidates = [revise(edit.parent, edit.response, self._edit) for edit in edits]
        runs = [self._runs(candidate) for candidate in candidates]
        keys = [(edit.context, run.id) if run else None for edit, run in zip(edits, runs, strict=True)]
        first: dict[tuple[int, str], int] = {}
        for i, key in enumerate(keys):
            if key:
                first.setdefault(key, i)
        found = self._tried({key: runs[i] for key, i in first.items()})
        judged = []
        for i, (edit, candidate, key) in enumerate(zip(edits, candidates, keys, strict=True)):
            same = first[key] if candidate.applied and first[key] != i else None
            judged.append(self._judged(edit.context, candidate, found[key] if key else (), same))
        return judged

    def tried(self, harnesses: Sequence[tuple[int, Harness]], questions: Mapping[str, Sequence[Question]]) -> list[Any]:
        """Each (context, harness) on its family's `questions`: rollouts in question order, or a StepError."""
        until = None if self._limit_s is None else time.monotonic() + self._limit_s

        def heard(_: Rollout) -> None:
            if until is not None and time.monotonic() > until:
                raise StepError("nobody waits for this trial any more")

        def work(context: int, harness: Harness):
            asked, family = Candidate(harness, "", harness), self.contexts[context]["family"]
            return lambda: trial(asked, questions[family], self.settings[family], self._services, heard).rollouts

        return at_once([work(*one) for one in harnesses], self._limit_s)

    def _runs(self, candidate: Candidate) -> Harness | None:
        """Whose rollouts count: its own; its parent's for a change of nothing that stands for it; nobody's."""
        return candidate.parent if stands_for_parent(candidate, self._no_change) else candidate.harness

    def _tried(self, runs: Mapping[tuple[int, str], Harness]) -> dict[tuple[int, str], Any]:
        """Key -> rollouts, or the StepError in their place."""
        todo = {key: harness for key, harness in runs.items() if key not in self._parents}
        done = self.tried([(context, harness) for (context, _), harness in todo.items()], self.questions)
        found = {**self._parents, **dict(zip(todo, done, strict=True))}
        for (context, harness_id), rollouts in zip(todo, done, strict=True):
            if harness_id == self.contexts[context]["harness"]["id"] and not isinstance(rollouts, StepError):
                self._parents[context, harness_id] = rollouts
        return {key: found[key] for key in runs}

    def _judged(self, context: int, candidate: Candidate, rollouts: Any, same_as: int | None) -> Judged:
        if isinstance(rollouts, StepError):
            return Judged(context, candidate, None, None, same_as, str(rollouts))
        candidate = replace(candidate, rollouts=rollouts, grade=self.setting(context).grade)
        values = reward_terms(candidate, self.terms, self._no_change)
        return Judged(context, candidate, values, total(values, self.terms), same_as)
