"""Where a ready step runs: a thread here. Steps wait for models and jails, so threads are enough."""

import threading
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import HbenchError, disk_trouble
from hbench.core.output import Artifact
from hbench.steps.step_kind import find
from hbench.store.artifacts import StepRecord


@dataclass(frozen=True)
class ReadyStep:
    """A step whose inputs are there: all that is needed to run it, in this process or on another machine."""

    key: str
    kind: str
    version: int
    params: Json
    inputs: Mapping[str, Artifact]
    label: str


def run_step(ready: ReadyStep, store: Any, services: Any) -> tuple[Artifact, bool]:
    """The artifact, and whether another process made it meanwhile. Raises what the step raises."""
    part = store.open(ready.key, services.wait_politely)
    if isinstance(part, Artifact):
        return part, True
    with part:
        started = time.monotonic()
        output = find(ready.kind).run(ready.params, ready.inputs, services.of(part, ready.label, ready.key))
        services.budget.purse(ready.key).check()
        seconds = time.monotonic() - started
        record = StepRecord(ready.kind, ready.version, ready.params, seconds, services.made_with())
        return part.commit(output, record), False


class Here:
    """Runs ready steps on threads of this process."""

    def __init__(self, store: Any, services: Any):
        self._store, self._services = store, services

    def start(self, ready: ReadyStep) -> Future:
        """What `run_step` gives or raises."""
        return in_thread(run_step, ready, self._store, self._services)

    def close(self) -> None:
        """Nothing: the run's services end what is under way."""


def in_thread(work: Callable[..., Any], *arguments: Any) -> Future:
    """What `work` gives or raises. The thread is a daemon: a step that hangs in a library cannot keep a stopped run alive."""
    future: Future = Future()

    def body() -> None:
        try:
            future.set_result(work(*arguments))
        except BaseException as trouble:
            future.set_exception(trouble)

    threading.Thread(target=body, daemon=True).start()
    return future


def told_trouble(trouble: Exception) -> str:
    """What is kept of an exception: the message of an expected one, the whole traceback of a bug."""
    if said := disk_trouble(trouble):
        return said
    if isinstance(trouble, HbenchError):
        return str(trouble)
    lines = traceback.format_exception(trouble)
    return "".join(lines).rstrip() + f"\n{type(trouble).__name__}: {trouble}"
