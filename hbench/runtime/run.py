"""run(specs): compile, execute, fold. What `hbench run` and `hbench.run` call."""

import signal
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.model import ModelRef
from hbench.engines.server_notes import end_orphans
from hbench.plan import Plan, compile
from hbench.runtime.execute import Ended, Execution
from hbench.runtime.local import Here
from hbench.runtime.progress import Progress
from hbench.runtime.record import RunRecord
from hbench.runtime.services import Machine, RunServices
from hbench.runtime.training.trackers import check_trackers


@dataclass(frozen=True)
class Options:
    """results: the folder. limit: at most so many questions a split (a quick look, marked as limited).

    retries: how often a failed step is tried again in this run. quiet: no progress.
    """

    results: Path = Path("results")
    limit: int | None = None
    retries: int = 0
    quiet: bool = False


@dataclass(frozen=True)
class RunResult:
    """outcome: finished, failed, spent or interrupted. statuses: how many steps ran, were cached, failed, spent, skipped."""

    outcome: str
    run_ids: tuple[str, ...]
    statuses: dict[str, int]
    errors: tuple[str, ...]
    seconds: float
    folded: str = ""


def run(specs: Sequence[Any], options: Options = Options()) -> RunResult:
    """Executes the plans of `specs` together, equal steps once, and folds the rows into the database.

    A failed step does not raise: its descendants are skipped, the rest goes on, and the outcome says so. So with a step that
    machine.budget does not pay to its end: then the outcome is "spent".
    Ctrl-C and SIGTERM end it cleanly with outcome "interrupted"; finished work is kept.
    """
    from hbench.store.artifacts import Store

    started = time.monotonic()
    if options.limit is not None:
        specs = [spec.limited(options.limit) for spec in specs]
    plans = [compile(spec) for spec in specs]
    trains = any(step.kind.startswith("train_") for plan in plans for step in plan.steps)
    if trains:
        check_trackers(specs[0].machine.training.report_to)
    store = Store(options.results)
    progress = Progress(quiet=options.quiet)
    for log in end_orphans():
        progress.say(f"ended a model server that an earlier run left behind when it was killed (log: {log})")
    services = RunServices(replace(machine_of(specs, options.results), trains=trains), progress)
    executor = _executor(specs[0].machine, store, services)
    records = [_open_record(store, plan, options) for plan in plans]
    folding = Folding(options.results, specs[0].machine.fold_s)
    outcome = "interrupted"
    workers, budget, noted = services.machine.workers, services.budget, partial(_to_first, records)
    execution = Execution(plans, store, executor, progress, _to_all(records), workers, options.retries, budget, noted)
    with _Signals() as signals:
        try:
            execution.run()
            outcome = _outcome(execution.ended)
        except KeyboardInterrupt:
            progress.say("stopping; what is finished is kept")
        finally:
            signals.deaf()
            executor.close()
            services.close()
            execution.note_spending()
            for record in records:
                record.close(outcome)
            progress.close()
    folded = folding.last() if outcome != "interrupted" else ""
    return _result(outcome, records, execution.ended, time.monotonic() - started, folded)


def machine_of(specs: Sequence[Any], results: Path) -> Machine:
    """The machine settings of the first spec (a sweep's points share them) and how every model is reached."""
    block = specs[0].machine
    refs = [ref for spec in specs for arm in spec.arms.values() for ref in arm.models()]
    models: dict[str, tuple[ModelRef, Json]] = {}
    for ref in refs:
        settings = block.model_settings(ref.name)
        known, before = models.setdefault(ref.digest, (ref, settings))
        if before != settings:
            raise HbenchError(
                f"machine.models: {known.name} and {ref.name} are one model by all that is hashed, but are reached in two "
                "ways; give them one name, or say in the spec how they differ (revision, adapter, chat_template …)"
            )
    training, named, budget = block.training.to_json(), tuple(block.outside_env), block.budget.to_json()
    return Machine(results, models, block.sandbox, block.in_flight, block.workers, training, named, budget=budget)


def _executor(machine: Any, store: Any, services: RunServices) -> Any:
    """Where ready steps run. machine: the MachineBlock."""
    if machine.executor == "local":
        return Here(store, services)
    from hbench.runtime.on_ray import OnRay

    return OnRay(store, services, machine.ray)


def _outcome(ended: dict[str, Ended]) -> str:
    statuses = {each.status for each in ended.values()}
    return next((bad for bad in ("failed", "spent") if bad in statuses), "finished")


def _open_record(store: Any, plan: Plan, options: Options) -> RunRecord:
    store.put_plan(plan.spec.digest, plan.rows())
    return RunRecord(store, plan, plan.spec.machine.to_json(), options.limit)


def _to_all(records: Sequence[RunRecord]) -> Any:
    def heard(ended: Ended) -> None:
        for record in records:
            record.heard(ended)

    return heard


def _to_first(records: Sequence[RunRecord], rows: list[dict[str, Any]]) -> None:
    """Rows of a step that several plans have count once: in the run of the first of them."""
    for record in records:
        rows = record.spent(rows)


def _result(
    outcome: str, records: Sequence[RunRecord], ended: dict[str, Ended], seconds: float, folded: str
) -> RunResult:
    statuses = Counter(e.status for e in ended.values())
    errors = tuple(e.error or "" for e in ended.values() if e.status in ("failed", "spent"))
    return RunResult(outcome, tuple(r.run_id for r in records), dict(statuses), errors, seconds, folded)


class Folding:
    """Folds finished steps into the database now and then, in a thread; trouble with it never touches the run."""

    def __init__(self, folder: Path, every_s: float):
        self._folder, self._every_s = folder, every_s
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._now_and_then, daemon=True)
        self._thread.start()

    def _now_and_then(self) -> None:
        while not self._done.wait(self._every_s):
            self._fold(0.0)

    def _fold(self, wait_s: float) -> str:
        from hbench.store.database import fold

        result = fold(self._folder, wait_s=wait_s)
        if result.how in ("folded", "nothing"):
            return ""
        why = "; ".join(result.messages) or {"busy": "another process folds", "held": "it is open elsewhere"}[result.how]
        return f"the database is not up to date yet ({why}); `hbench sql` and the next run fold again"

    def last(self) -> str:
        """The final fold; what went wrong with it, or an empty text."""
        self._done.set()
        self._thread.join()
        return self._fold(10.0)


class _Signals:
    """Inside it SIGTERM ends a run as Ctrl-C does; `deaf` lets neither cut off what must still be written.

    Only in the main thread, where signals can be set. Afterwards all is as it was: the caller may be a notebook.
    """

    def __enter__(self) -> Self:
        self._before = {}
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        return self

    def deaf(self) -> None:
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
