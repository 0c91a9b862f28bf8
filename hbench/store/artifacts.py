"""A results folder: artifacts by key, plans, and journals of runs. The truth; the database is made from it."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from hbench.core.output import Artifact
from hbench.store.journal import RunJournal
from hbench.store.lease import Holder, Lease, Watch
from hbench.store.part import StepRecord, UnfinishedPart
from hbench.store.reading import read_artifact
from hbench.store.rows import Rows, admit, put_whole
from hbench.store.tables import SCHEMA

__all__ = ["Store", "StepRecord", "UnfinishedPart", "RunJournal"]

PLAN_TABLES = frozenset({"specs", "plan_steps", "plan_labels", "plan_edges"})


class Store:
    """Makes no folder before something is written."""

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)

    def get(self, key: str) -> Artifact | None:
        """The finished artifact under `key`, or None: found out with one file-system call."""
        return read_artifact(self._place(key))

    def open(self, key: str, waiting: Callable[[Holder | None], None] | None = None) -> UnfinishedPart | Artifact:
        """The unfinished artifact, under a lease; or the finished one, if it is there or appears while we wait.

        Waits while somebody else who lives holds the lease, calling `waiting` with the holder at least once a second;
        what it raises ends the wait.
        """
        final, pause = self._place(key), 0.01
        final.parent.mkdir(parents=True, exist_ok=True)
        watch = Watch(final.with_name(key + ".lock"))
        while True:
            if found := read_artifact(final):
                return found
            lease = watch.try_take()
            if isinstance(lease, Lease):
                return self._opened(final, lease)
            if waiting is not None:
                waiting(lease)
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    def put_plan(self, spec_digest: str, rows: Rows) -> None:
        """Keeps a compiled plan (specs, plan_steps, plan_labels, plan_edges), in place of an earlier version's rows."""
        _put_rows(self.folder / "plans" / f"{spec_digest}.json", admit(rows, PLAN_TABLES))

    def put_exhibit(self, name: str, rows: Rows) -> None:
        """Keeps the cells of an exhibit (table exhibit_cells), in place of those printed before."""
        _put_rows(self.folder / "exhibits" / f"{name}.cells.json", admit(rows, frozenset({"exhibit_cells"})))

    def open_run(self, run_id: str) -> RunJournal:
        """The journal of one run."""
        return RunJournal(self.folder / "runs" / f"{run_id}.jsonl")

    def _place(self, key: str) -> Path:
        return Path(f"{self.folder}/steps/{key[:2]}/{key}")  # of a hundred thousand, `/` of paths takes a quarter of the time

    def _opened(self, final: Path, lease: Lease) -> UnfinishedPart | Artifact:
        try:
            found = read_artifact(final)  # committed between our look and the lease
            if found is None:
                return UnfinishedPart(final, lease)
        except BaseException:
            lease.drop()
            raise
        lease.drop()
        return found


def _put_rows(file: Path, rows: Rows) -> None:
    text = json.dumps({"schema": SCHEMA, "rows": rows}, allow_nan=False)
    if file.exists() and file.read_text() == text:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    put_whole(file, text, file.with_name(f".{file.name}.{os.getpid()}.{time.monotonic_ns()}"))
