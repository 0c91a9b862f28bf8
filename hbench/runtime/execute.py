"""Executes plans: order, keys, cache, resume. The one place that catches what a step raises."""

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from typing import Any

from hbench.core.digest import digest
from hbench.core.output import Artifact, Row
from hbench.plan.plan import Plan
from hbench.plan.step import Port, Step
from hbench.runtime.budget import Budget, Purse
from hbench.runtime.local import ReadyStep, told_trouble
from hbench.runtime.loop import Interrupted
from hbench.runtime.progress import Progress

NOTED_EVERY_S = 2.0  # what a kill -9 may cost of the record of spending


@dataclass(frozen=True)
class Ended:
    """How one step ended: ran, cached, failed, spent or skipped. seconds: volatile."""

    step_id: str
    status: str
    key: str | None = None
    seconds: float = 0.0
    error: str | None = None


@dataclass
class Execution:
    """One pass over the steps of some plans. `heard` is told of every step that ends, in the order they end.

    executor: where ready steps run: runtime/local.py or runtime/on_ray.py. most: steps under way at once. budget: pays for
    them. noted: is given rows of the table `spend`, without the run, now and then and when a step ends.
    """

    plans: Sequence[Plan]
    store: Any
    executor: Any
    progress: Progress
    heard: Callable[[Ended], None]
    most: int
    retries: int = 0
    budget: Budget = field(default_factory=Budget)
    noted: Callable[[list[Row]], None] = lambda rows: None  # noqa: E731
    ended: dict[str, Ended] = field(default_factory=dict)
    _artifacts: dict[str, Artifact] = field(default_factory=dict)
    _readers: dict[str, int] = field(default_factory=dict)
    _waiting: dict[str, int] = field(default_factory=dict)
    _after: dict[str, list[Step]] = field(default_factory=lambda: defaultdict(list))
    _ready: deque[Step] = field(default_factory=deque)
    _running: dict[Future, tuple[Step, str, float]] = field(default_factory=dict)
    _same_key: dict[str, list[Step]] = field(default_factory=dict)
    _tries: dict[str, int] = field(default_factory=dict)
    _labels: dict[str, str] = field(default_factory=dict)
    _arms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _noted_at: float = 0.0

    def run(self) -> None:
        """Runs every step once; returns when all have ended. Raises KeyboardInterrupt when the user stops it."""
        self._lay_out()
        while self._ready or self._running:
            while self._ready and len(self._running) < self.most:
                self._start(self._ready.popleft())
            self._gather()

    def _lay_out(self) -> None:
        steps = {step.id: step for plan in self.plans for step in plan.steps}
        self.progress.counts.steps = len(steps)
        for plan in self.plans:
            for label in plan.labels:
                self._labels.setdefault(label.step_id, f"{label.arm}: {label.label}")
                self._arms[label.step_id].add(label.arm)
        for step in steps.values():
            parents = {p.id for p in step.parents().values()}
            self._waiting[step.id] = len(parents)
            for parent in parents:
                self._after[parent].append(step)
            if not parents:
                self._ready.append(step)
        self._readers = {i: len(after) for i, after in self._after.items()}

    def _start(self, step: Step) -> None:
        inputs = {name: self._input(source) for name, source in step.inputs.items()}
        key = step.key({name: made.digest for name, made in inputs.items()})
        if key in self._same_key:  # equal content reached by another way is being made right now
            self._same_key[key].append(step)
            return
        found = self.store.get(key)
        if found is not None:
            return self._finish(step, Ended(step.id, "cached", key), found)
        purse = self.budget.open(key, self._arms[step.id])
        if late := purse.late():
            self.budget.close(key)
            return self._broken_off(step, Ended(step.id, "spent", key, error=late))
        self._same_key[key] = []
        ready = ReadyStep(key, step.kind, step.version, step.params, inputs, self._label(step))
        future = self.executor.start(ready)
        self._running[future] = (step, key, time.monotonic())

    def _input(self, source: Step | Port) -> Artifact:
        if isinstance(source, Step):
            return self._artifacts[source.id]
        whole = self._artifacts[source.step.id]
        value = whole.value[source.field]
        return replace(whole, value=value, digest=digest(value))

    def _gather(self) -> None:
        if not self._running:
            return
        done, _ = wait(self._running, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in done:
            step, key, started = self._running.pop(future)
            seconds, purse = time.monotonic() - started, self.budget.close(key)
            self._note(step.id, key, purse)
            try:
                artifact, elsewhere = future.result()
            except Interrupted:
                raise KeyboardInterrupt from None
            except Exception as trouble:
                if purse.refused:
                    self._broken_off(step, Ended(step.id, "spent", key, seconds, purse.refused))
                else:
                    self._failed(step, key, seconds, trouble)
            else:
                self._finish(step, Ended(step.id, "cached" if elsewhere else "ran", key, seconds), artifact)
            for twin in self._same_key.pop(key, []):
                self._ready.appendleft(twin)
        if time.monotonic() - self._noted_at > NOTED_EVERY_S:
            self.note_spending()
        self.progress.tick()

    def note_spending(self) -> None:
        """Tells `noted` what the steps under way have spent so far."""
        self._noted_at = time.monotonic()
        for step, key, _ in [*self._running.values()]:
            self._note(step.id, key, self.budget.purse(key))

    def _note(self, step_id: str, key: str, purse: Purse) -> None:
        rows = [{"step_id": step_id, "step_key": key, **row} for row in purse.rows()]
        if rows:
            self.noted(rows)

    def _finish(self, step: Step, ended: Ended, artifact: Artifact) -> None:
        if self._after.get(step.id):
            self._artifacts[step.id] = artifact
        self._record(ended)
        for after in self._after.get(step.id, ()):
            self._waiting[after.id] -= 1
            if self._waiting[after.id] == 0 and after.id not in self.ended:
                self._ready.append(after)
        for parent in {p.id for p in step.parents().values()}:
            self._readers[parent] -= 1
            if self._readers[parent] == 0:  # nobody will read it again: memory does not grow with the plan
                self._artifacts.pop(parent, None)

    def _failed(self, step: Step, key: str, seconds: float, trouble: Exception) -> None:
        self._tries[step.id] = self._tries.get(step.id, 0) + 1
        if self._tries[step.id] <= self.retries:
            self.progress.say(f"step {self._label(step)!r} failed and will be tried again: {trouble}")
            self._ready.append(step)
            return
        self._broken_off(step, Ended(step.id, "failed", key, seconds, told_trouble(trouble)))

    def _broken_off(self, step: Step, ended: Ended) -> None:
        """Records a step that failed, or was spent, and that what needs it is skipped."""
        said = ended.error.splitlines()[-1]
        self.progress.say(f"step {self._label(step)!r} ({step.kind} {ended.key[:8]}): {said}")
        self._record(ended)
        how = {"failed": "failed", "spent": "had no budget left"}[ended.status]
        for after in self._descendants(step):
            if after.id not in self.ended:
                self._record(Ended(after.id, "skipped", error=f"{self._label(step)} {how}"))

    def _descendants(self, step: Step) -> Iterable[Step]:
        seen: dict[str, Step] = {}
        queue = deque(self._after.get(step.id, ()))
        while queue:
            after = queue.popleft()
            if after.id not in seen:
                seen[after.id] = after
                queue.extend(self._after.get(after.id, ()))
        return seen.values()

    def _record(self, ended: Ended) -> None:
        self.ended[ended.step_id] = ended
        self.progress.ended(ended.status, self._labels.get(ended.step_id, ""))
        self.heard(ended)

    def _label(self, step: Step) -> str:
        return self._labels.get(step.id, step.id[:8])
