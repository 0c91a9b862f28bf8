"""Kills a run again and again along its length, and looks at what was under way each time."""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import duckdb

from tests.thorough import often

KILLS = int(os.environ.get("HBENCH_KILLS") or often(6, 20))
IN_FOLD, WITH_READER, IN_HALF = (3, 2, 5) if KILLS >= 20 else (1, 1, 1)  # of these, at least


class Killer:
    """Starts `hbench run SPEC` in a world and kills it at moments drawn uniformly over `length_s` of working time.

    Between two kills the run works for as long as the moments lie apart; starting up comes on top. met: how many
    kills fell into a step with half-written rows, into a fold, beside an open reader. replies: how many a whole run stores;
    the moments are then drawn over these and not over time, which a machine that gets less busy would cut short.
    """

    def __init__(self, world, spec: str, length_s: float, startup_s: float, seed: int, replies: int = 0):
        self.world, self.spec, self.startup_s = world, spec, startup_s
        self.random = random.Random(seed)
        moments = sorted(self.random.uniform(0, length_s) for _ in range(KILLS))
        self.gaps = [after - before for before, after in zip([0.0, *moments], moments)]
        self.marks = sorted(self.random.randrange(replies) for _ in range(KILLS)) if replies else []
        self.met: Counter[str] = Counter()
        self.results = world.folder / "results"

    def kill(self, i: int) -> None:
        """Starts the run and kills it at its i-th moment; one in five is killed while it starts up."""
        wants_fold = i % 3 == 2 and self.met["fold"] < IN_FOLD
        wants_half = i % 3 == 1 and self.met["half"] < IN_HALF
        with_reader = i % 5 in (2, 4)
        with self._reader(with_reader):
            before = self._said()
            process = self.world.start("run", self.spec, "-q")
            if i % 5 == 0:
                self._wait(process, self.random.uniform(0, self.startup_s))
            else:
                self._until(process, lambda: self._said() > before, 60)
                if self.marks:
                    self._until(process, lambda: self._replies() > self.marks[i], 60)
                else:
                    self._wait(process, self.gaps[i])
            if wants_fold:
                self._until(process, self._folding, 5)
            if wants_half:
                self._until(process, self._half, 5)
            self._note(process, with_reader)
            kill_tree(process)

    def _said(self) -> int:
        """Bytes of stored replies: they grow once a run is at work."""
        return sum(file.stat().st_size for file in self.results.glob("replies/*.jsonl"))

    def _replies(self) -> int:
        return sum(file.read_bytes().count(b"\n") for file in self.results.glob("replies/*.jsonl"))

    def _wait(self, process: subprocess.Popen, seconds: float) -> None:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass

    def _until(self, process: subprocess.Popen, there: Callable[[], bool], seconds: float) -> None:
        end = time.monotonic() + seconds
        while not there() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.002)

    def _note(self, process: subprocess.Popen, with_reader: bool) -> None:
        if process.poll() is not None:
            self.met["after the end"] += 1
            return
        self.met["half"] += self._half()
        self.met["fold"] += self._folding()
        self.met["reader"] += with_reader

    def _half(self) -> bool:
        """Some step has written rows and is not committed."""
        try:
            return any(file.stat().st_size for file in self.results.glob("steps/*/*.part/rows.jsonl"))
        except FileNotFoundError:  # it has just been committed
            return False

    def _folding(self) -> bool:
        """Somebody holds the lock of folding right now."""
        import fcntl

        file = self.results / "fold.lock"
        if not file.exists():
            return False
        with file.open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False

    @contextmanager
    def _reader(self, wanted: bool):
        """Somebody's notebook: it holds the database open all along."""
        file = self.results / "hbench.duckdb"
        connection = None
        if wanted and file.exists():
            try:
                connection = duckdb.connect(str(file), read_only=True)
            except duckdb.Error:  # a killed fold may have left a WAL that only a writer can replay
                pass
        try:
            yield
        finally:
            if connection is not None:
                connection.execute("select count(*) from runs").fetchall()
                connection.close()


def kill_tree(process: subprocess.Popen) -> None:
    """kill -9 of everything the command started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    process.stdout.close()


def whole_lines(folder: Path) -> list[str]:
    """Every whole line of every stored reply."""
    lines: list[str] = []
    for file in sorted(folder.glob("replies/*.jsonl")):
        lines += [line for line in file.read_bytes().decode().split("\n")[:-1] if line]
    return lines
