"""The reward of a proposer's completion: revised, tried on scoring questions, its terms summed, as adaptation records it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from hbench.parts.rewards._total import reward_terms, total
from hbench.steps._at_once import at_once
from hbench.steps._candidate_rows import Rows, candidate_rows, term_rows
from hbench.steps._rollout_rows import rollout_rows
from hbench.steps.run_setting import RunSetting
from hbench.steps.trial import revise, trial


@dataclass(frozen=True)
class Judged:
    """One completion. candidate: with rollouts on the scoring questions, its own or those of its equal.

    terms: name -> unweighted value in [0, 1]. reward: their weighted sum, and `further`, what further revisions add
    (None with immediate credit). Both are None where there is `trouble`, a broken service or too long a wait: that is no
    signal, never 0. same_as: place among those asked of the equal candidate that was run in its stead.
    """

    context: int
    candidate: Candidate
    terms: Mapping[str, float] | None
    reward: float | None
    same_as: int | None = None
    trouble: str | None = None
    further: float | None = None


@dataclass(frozen=True)
class Edit:
    """A response to one edit context, or, further down its chain, to the report on a candidate made there."""

    context: int
    parent: Harness
    response: Response


class EditReward:
    """Judges completions, one call at a time. `told` is what steps/train_grpo.py put into the job as its `reward`.

    limit_s: the longest wait for a round of trials; what is not there by then gives no reward.
    """

    def __init__(self, told: Json, services: Services, limit_s: float | None = None):
        self.contexts: Sequence[Json] = told["contexts"]
        self.terms = {name: build("rewards", block) for name, block in told["terms"].items()}
        self.settings = {name: RunSetting.of(block) for name, block in told["families"].items()}
        self._questions = _questions(told["questions"])
        self._edit, self._no_change = build("edits", told["edit"]), told["no_change"]
        self._services, self._limit_s = services, limit_s
        self._parents: dict[tuple[int, str], tuple[Rollout, ...]] = {}  # rollouts of contexts' own harnesses
        self._told = told

    def __call__(self, asked: Sequence[tuple[int, Response]], generate: Generate | None = None) -> list[Judged]:
        """asked: (position of its edit context, completion). generate: needed where credit is discounted.

        Equal candidates of a context are run once; all run at the same time. Never raises for one completion's trouble.
        """
        edits = [Edit(i, Harness(self.contexts[i]["harness"]["files"]), response) for i, response in asked]
        judged = self.judge(edits)
        if self._told["credit"]["kind"] == "immediate":
            return judged
        from hbench.steps._credit import with_credit

        return with_credit(self, self._told, judged, generate)

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
        candidates = [replace(c, grade=self.setting(e.context).grade) for c, e in zip(candidates, edits, strict=True)]
        runs: dict[tuple[int, str], Candidate] = {}
        first: dict[tuple[int, str], int] = {}
        keys = []
        for i, (edit, candidate) in enumerate(zip(edits, candidates, strict=True)):
            subject = self._subject(candidate)
            keys.append((edit.context, subject.harness.id) if subject else None)
            if subject:
                runs.setdefault(keys[i], subject)
                first.setdefault(keys[i], i)
        found = self._tried(runs)
        judged = []
        for i, (edit, candidate, key) in enumerate(zip(edits, candidates, keys, strict=True)):
            same = first[key] if key and candidate.applied and first[key] != i else None
            judged.append(self._judged(edit.context, candidate, found[key] if key else (), same))
        return judged

    def tried(self, harnesses: Sequence[tuple[int, Harness]], questions: Mapping[str, Sequence[Question]]) -> list[Any]:
        """Each harness, of the context before it, on its family's `questions`: rollouts in question order, or a StepError."""
        until = None if self._limit_s is None else time.monotonic() + self._limit_s

        def heard(_: Rollout) -> None:
            if until is not None and time.monotonic() > until:
                raise StepError("nobody waits for this trial any more")

        def work(context: int, harness: Harness):
            asked, family = Candidate(harness, "", harness), self.contexts[context]["family"]
            return lambda: trial(asked, questions[family], self.settings[family], self._services, heard).rollouts

        return at_once([work(*one) for one in harnesses], self._limit_s)

    def _subject(self, candidate: Candidate) -> Candidate | None:
        """Whose rollouts count: its own; its parent's for a change of nothing that stands `as_parent`; nobody's."""
        if candidate.applied:
            return candidate
        unchanged = candidate.failure is not None and candidate.failure.kind == "no_change"
        stands = unchanged and self._no_change == "as_parent"
        return replace(candidate, harness=candidate.parent) if stands else None

    def _tried(self, runs: Mapping[tuple[int, str], Candidate]) -> dict[tuple[int, str], Any]:
        """Key -> rollouts, or the StepError in their place."""
        todo = [(key, run) for key, run in runs.items() if key not in self._parents]
        done = self.tried([(key[0], run.harness) for key, run in todo], self._questions)
        found = {key: rollouts for (key, _), rollouts in zip(todo, done, strict=True)}
        for (context, harness_id), rollouts in found.items():
            if harness_id == self.contexts[context]["harness"]["id"] and not isinstance(rollouts, StepError):
                self._parents[context, harness_id] = rollouts
        return {key: self._parents[key] if key in self._parents else found[key] for key in runs}

    def _judged(self, context: int, candidate: Candidate, rollouts: Any, same_as: int | None) -> Judged:
        if isinstance(rollouts, StepError):
            return Judged(context, candidate, None, None, same_as, str(rollouts))
        candidate = candidate.with_rollouts(rollouts)
        values = reward_terms(candidate, self.terms, self._no_change)
        return Judged(context, candidate, values, total(values, self.terms), same_as)


def _questions(told: Json) -> dict[str, list[Question]]:
    return {family: [Question.from_json(one) for one in some] for family, some in told.items()}
