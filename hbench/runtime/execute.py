"""Executes plans: order, keys, cache, resume. The one place that catches what a step raises."""

import time
import traceback
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from typing import Any

from hbench.core.digest import digest
from hbench.core.failure import HbenchError
from hbench.core.output import Artifact
from hbench.plan.plan import Plan
from hbench.plan.step import Port, Step
from hbench.runtime.local import in_thread
from hbench.runtime.loop import Interrupted
from hbench.runtime.progress import Progress
from hbench.runtime.services import RunServices
from hbench.steps.step_kind import find
from hbench.store.artifacts import StepRecord


@dataclass(frozen=True)
class Ended:
    """How one step ended: ran, cached, failed or skipped. seconds: volatile."""

    step_id: str
    status: str
    key: str | None = None
    seconds: float = 0.0
    error: str | None = None


@dataclass
class Execution:
    """One pass over the steps of some plans. `heard` is told of every step that ends, in the order they end."""

    plans: Sequence[Plan]
    store: Any
    services: RunServices
    progress: Progress
    heard: Callable[[Ended], None]
    retries: int = 0
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

    def run(self) -> None:
        """Runs every step once; returns when all have ended. Raises KeyboardInterrupt when the user stops it."""
        self._lay_out()
        while self._ready or self._running:
            while self._ready and len(self._running) < self.services.machine.workers:
                self._start(self._ready.popleft())
            self._gather()

    def _lay_out(self) -> None:
        steps = {step.id: step for plan in self.plans for step in plan.steps}
        self.progress.counts.steps = len(steps)
        for plan in self.plans:
            for label in plan.labels:
                self._labels.setdefault(label.step_id, f"{label.arm}: {label.label}")
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
        self._same_key[key] = []
        future = in_thread(self._work, step, key, inputs)
        self._running[future] = (step, key, time.monotonic())

    def _input(self, source: Step | Port) -> Artifact:
        if isinstance(source, Step):
            return self._artifacts[source.id]
        whole = self._artifacts[source.step.id]
        value = whole.value[source.field]
        return replace(whole, value=value, digest=digest(value))

    def _work(self, step: Step, key: str, inputs: dict[str, Artifact]) -> tuple[Artifact, bool]:
        """On a thread of its own: the artifact, and whether another process made it meanwhile."""
        part = self.store.open(key, self.services.wait_politely)
        if isinstance(part, Artifact):
            return part, True
        with part:
            started = time.monotonic()
            output = find(step.kind).run(step.params, inputs, self.services.of(part, self._label(step)))
            seconds = time.monotonic() - started
            record = StepRecord(step.kind, step.version, step.params, seconds, self.services.made_with())
            return part.commit(output, record), False

    def _gather(self) -> None:
        if not self._running:
            return
        done, _ = wait(self._running, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in done:
            step, key, started = self._running.pop(future)
            seconds = time.monotonic() - started
            try:
                artifact, elsewhere = future.result()
            except Interrupted:
                raise KeyboardInterrupt from None
            except Exception as trouble:
                self._failed(step, key, seconds, trouble)
            else:
                self._finish(step, Ended(step.id, "cached" if elsewhere else "ran", key, seconds), artifact)
            for twin in self._same_key.pop(key, []):
                self._ready.appendleft(twin)
        self.progress.tick()

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
        told = told_trouble(trouble)
        self.progress.say(f"step {self._label(step)!r} ({step.kind} {key[:8]}): {told.splitlines()[-1]}")
        self._record(Ended(step.id, "failed", key, seconds, told))
        for after in self._descendants(step):
            if after.id not in self.ended:
                self._record(Ended(after.id, "skipped", error=f"{self._label(step)} failed"))

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


def told_trouble(trouble: Exception) -> str:
    """What is kept of an exception: the message of an expected one, the whole traceback of a bug."""
    if isinstance(trouble, HbenchError):
        return str(trouble)
    lines = traceback.format_exception(trouble)
    return "".join(lines).rstrip() + f"\n{type(trouble).__name__}: {trouble}"
