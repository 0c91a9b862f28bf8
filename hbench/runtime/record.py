"""What is written down about a run: versions, machine, how each step ended."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hbench.core.digest import digest
from hbench.plan.plan import Plan
from hbench.runtime.execute import Ended
from hbench.runtime.versions import versions

TOGETHER, TOGETHER_S = 1000, 1.0  # rows, and seconds, of one line of the journal


class RunRecord:
    """Rows of `runs` and `run_steps` for one plan of a run, appended as they become true."""

    def __init__(self, store: Any, plan: Plan, machine: dict[str, Any], limit: int | None):
        self.plan = plan
        self.run_id = f"{time.strftime('%Y%m%d-%H%M%S')}-{digest([plan.spec.digest, os.getpid(), time.time_ns()])[:8]}"
        self._mine = {step.id for step in plan.steps}
        self._kept: list[dict[str, Any]] = []
        self._kept_at = time.monotonic()
        self._journal = store.open_run(self.run_id)
        self._row = {
            "run_id": self.run_id,
            "spec_digest": plan.spec.digest,
            "started_at": now(),
            "versions": versions(),
            "machine": {**machine, **here()},
            "git_commit": git_commit(),
            "limited": limit,
        }
        self._append(None, None)

    def heard(self, ended: Ended) -> None:
        """Keeps how a step ended, if it is one of this plan's."""
        if ended.step_id in self._mine:
            row = {
                "run_id": self.run_id,
                "step_id": ended.step_id,
                "step_key": ended.key,
                "status": ended.status,
                "seconds": ended.seconds,
                "error": ended.error,
            }
            self._kept.append(row)
            # Steps that are found are many and cost nothing to find again: what is written of them goes together.
            if ended.status != "cached" or len(self._kept) >= TOGETHER or time.monotonic() - self._kept_at > TOGETHER_S:
                self._write_kept()

    def _write_kept(self) -> None:
        rows, self._kept, self._kept_at = self._kept, [], time.monotonic()
        if rows:
            self._journal.append({"run_steps": rows})

    def spent(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Keeps rows of `spend` that are of this plan's steps, in place of earlier ones; the other rows."""
        mine = [{"run_id": self.run_id, **row} for row in rows if row["step_id"] in self._mine]
        if mine:
            self._journal.append({"spend": mine})
        return [row for row in rows if row["step_id"] not in self._mine]

    def close(self, outcome: str) -> None:
        """outcome: finished, failed, spent or interrupted."""
        self._write_kept()
        self._append(outcome, now())
        self._journal.close()

    def _append(self, outcome: str | None, ended_at: str | None) -> None:
        self._journal.append({"runs": [{**self._row, "outcome": outcome, "ended_at": ended_at}]})


def here() -> dict[str, Any]:
    """Facts of the machine that a run was made on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"host": socket.gethostname(), "cores": cores, "memory_gb": round(memory / 2**30, 1)}


def now() -> str:
    """UTC, as a TIMESTAMP column takes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")


def git_commit() -> str | None:
    """The commit of the working folder, with a + when files differ from it; None outside a repository."""
    if not any((folder / ".git").exists() for folder in (Path.cwd(), *Path.cwd().parents)):
        return None
    try:
        head = _git("rev-parse", "HEAD")
        return head[:12] + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "") if head else None
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, timeout=5)
    return done.stdout.strip()


def command_line() -> str:
    """The command that repeats this run, for messages."""
    return "hbench " + " ".join(sys.argv[1:])
