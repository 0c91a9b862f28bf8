"""Discounted credit: an edit is credited, beside its own reward, with what the present policy makes of what it left."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hbench.core.candidate import Candidate
from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.question import Question
from hbench.core.rollout import Rollout
from hbench.core.training import Generate
from hbench.steps._candidate_rows import chain_history, told_edit
from hbench.steps._edit_prompt import context_messages
from hbench.steps._evaluated import InMemory
from hbench.steps._judged import Edit, Judged
from hbench.steps._report_text import report_text
from hbench.steps.harness import harness_value


@dataclass
class _Chain:
    """The revisions after one completion. worth: their discounted rewards so far."""

    head: Judged
    worth: float = 0.0
    trouble: str | None = None

    @property
    def goes_on(self) -> bool:
        return self.trouble is None and self.head.candidate.applied


class Further:
    """told: as EditReward takes it; here count `credit`, `prompt`, `report`, `feedback` and the settings of families."""

    def __init__(self, told: Json):
        self._told, self._credit = told, told["credit"]
        self._feedback = {family: list(map(Question.from_json, some)) for family, some in told["feedback"].items()}

    def credit(self, reward: Any, judged: Sequence[Judged], generate: Generate) -> list[Judged]:
        """`judged` with discount^k x the reward of the k-th further revision added, up to the horizon.

        Each is drawn from the present policy on the candidate's own report over feedback questions. A failed edit has no
        further revision; equal candidates share theirs. `generate` is called once a level, on every rank, also with nothing.
        """
        chains = {i: _Chain(one) for i, one in enumerate(judged) if one.same_as is None and one.trouble is None}
        for level in range(1, self._credit["horizon"] + 1):
            self._revise(reward, [chain for chain in chains.values() if chain.goes_on], generate, level)
        return [one if one.trouble else _credited(one, chains[_first(i, one)]) for i, one in enumerate(judged)]

    def _revise(self, reward: Any, chains: Sequence[_Chain], generate: Generate, level: int) -> None:
        """One more revision of each chain."""
        ready, prompts = [], []
        ran = reward.tried([(c.head.context, c.head.candidate.harness) for c in chains], self._feedback)
        for chain, rollouts in zip(chains, ran, strict=True):
            if isinstance(rollouts, StepError):
                chain.trouble = str(rollouts)
            else:
                ready.append(chain)
                prompts.append(self._messages(reward, chain.head, rollouts))
        responses = generate(prompts)
        edits = [Edit(c.head.context, c.head.candidate.harness, r) for c, r in zip(ready, responses, strict=True)]
        for chain, one in zip(ready, reward.judge(edits), strict=True):
            chain.head, chain.trouble = one, one.trouble
            chain.worth += 0.0 if one.trouble else self._credit["discount"] ** level * one.reward

    def _messages(self, reward: Any, head: Judged, rollouts: Sequence[Rollout]) -> list[Json]:
        context, setting = reward.contexts[head.context], reward.setting(head.context)
        candidate: Candidate = head.candidate
        harness: Harness = candidate.harness
        questions = self._feedback[context["family"]]
        params = {**self._told["report"], "family": self._told["families"][context["family"]]["family"]}
        past = {0: chain_history(told_edit(candidate), candidate.task_score)}
        run = InMemory.of(harness, questions, rollouts, setting.grade)
        text = report_text(params, run, [question.to_json() for question in questions], past)
        next_context = {**context, "harness": harness_value(harness), "report": text}
        return [m.to_json() for m in context_messages(self._told["prompt"], next_context, self._told["edit"])]


def _first(place: int, one: Judged) -> int:
    return place if one.same_as is None else one.same_as


def _credited(one: Judged, chain: _Chain) -> Judged:
    if chain.trouble:
        return replace(one, terms=None, reward=None, trouble=chain.trouble)
    return replace(one, reward=one.reward + chain.worth, further=chain.worth)
