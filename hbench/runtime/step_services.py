"""What one step may use of its run: core.protocols.Services."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hbench.core.benchmark import Benchmarked, BenchmarkJob
from hbench.core.digest import Json
from hbench.core.failure import Failure, HbenchError, StepError
from hbench.core.harness import Harness
from hbench.core.message import LMError, Reply, Request
from hbench.core.model import ModelRef
from hbench.core.outside import Finished
from hbench.core.protocols import Part
from hbench.core.question import Question
from hbench.core.rollout import Rollout
from hbench.core.training import Talk, Trained, TrainingJob, TurnTokens
from hbench.core.trajectory import Acted
from hbench.runtime.rollouts import player


class StepServices:
    """core.protocols.Services for one step. run: the RunServices."""

    def __init__(self, run: Any, part: Part, label: str, key: str = "no-step"):
        self.part, self._run, self._label, self._key = part, run, label, key

    def ask(self, model: ModelRef, requests: Sequence[Request]) -> list[Reply]:
        """Replies in order. Raises StepError when one got none."""
        lm = self._run.paid(self._key).lm(model)
        with self._run.beside(model):
            replies = self._run.run(lm.generate(list(requests)))
        for reply in replies:
            if isinstance(reply, LMError):
                raise StepError(f"the {model.role} gave no reply ({reply.kind}): {reply.message}")
            self._run.progress.called(reply)
        return replies

    def run_harness(
        self,
        harness: Harness,
        questions: Sequence[Question],
        setting: Any,
        done: Callable[[Rollout], None],
        skip: Set[tuple[str, int]] = frozenset(),
    ) -> None:
        """See core.protocols.Services. Rollouts end in any order."""
        todo = [(q, r) for q in questions for r in range(setting.repeats) if (q.id, r) not in skip]
        if not todo:
            return

        def ended(rollout: Rollout) -> None:
            done(rollout)
            self._run.progress.rolled(rollout)

        with self._run.beside(setting.solver):
            self._run.play(partial(player, harness=harness, setting=setting), todo, ended, self._key)

    def act(
        self,
        setting: Any,
        questions: Sequence[Question],
        done: Callable[[Acted], None],
        skip: Set[tuple[str, int]] = frozenset(),
    ) -> None:
        """See core.protocols.Services. Rollouts end in any order."""
        from hbench.runtime.acting.staging import player as acting

        todo = [(q, r) for q in questions for r in range(setting.repeats) if (q.id, r) not in skip]
        if not todo:
            return

        def ended(acted: Acted) -> None:
            done(acted)
            self._run.progress.rolled(acted.rollout)

        reviewer = [setting.review.reviewer] if setting.review else []
        with self._run.beside(*([] if setting.outside else [setting.student]), *reviewer):
            self._run.play(partial(acting, setting=setting), todo, ended, self._key)

    def tokenise(self, model: ModelRef, conversations: Sequence[tuple[Json, str]]) -> list[tuple[list[int], list[int]]]:
        """See core.protocols.Services."""
        from hbench.engines.mask import tokenise

        try:
            return tokenise(self._run.reached(model)[0], conversations)
        except HbenchError as bad:
            raise StepError(str(bad)) from bad

    def tokenise_turns(self, model: ModelRef, talks: Sequence[Talk]) -> list[list[TurnTokens] | str]:
        """See core.protocols.Services."""
        from hbench.engines.mask import tokenise_turns

        try:
            return tokenise_turns(self._run.reached(model)[0], talks)
        except HbenchError as bad:
            raise StepError(str(bad)) from bad

    def train(self, job: TrainingJob) -> Trained:
        """See core.protocols.Services."""
        from hbench.runtime.training.launch import train

        model, _ = self._run.reached(job.model)
        purse = self._run.budget.purse(self._key)

        def told(done: int, total: int) -> None:
            purse.refused = purse.refused or purse.late()
            purse.check()  # what it raises ends the processes; the last checkpoint stays
            self.report_progress(done, total)

        return train(self._run, self.part, replace(job, model=model), told, partial(self._run.serve, self._key))

    def benchmark(self, job: BenchmarkJob) -> Benchmarked:
        """See core.protocols.Services."""
        from hbench.runtime.benchmarks.launch import measure

        model, reach = self._run.reached(job.model)
        return measure(self._run, self.part, replace(job, model=model), reach, self._key)

    def run_outside(self, words: Sequence[str], folder: Path, wall_s: float) -> Finished:
        """See core.protocols.Services."""
        from hbench.engines.outside import run_outside

        return run_outside(words, folder, wall_s, self._run.machine.outside_env, self._run.check)

    def recalculate(self, workbooks: Mapping[str, bytes]) -> Mapping[str, bytes] | Failure:
        """See core.protocols.Services."""
        return self._run.run(self._run.recalculator().workbooks(workbooks))

    def engine(self, model: ModelRef) -> str:
        return self._run.engine(model)

    def report_progress(self, done: int, total: int) -> None:
        self._run.progress.step(self._label, done, total)
