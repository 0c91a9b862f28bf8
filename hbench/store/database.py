"""Folding: brings what has finished from steps/, plans/ and runs/ into the DuckDB files that people query.

Steps are the truth, so folding may be killed, skipped or done all over at any time. The bookkeeping (`folded`) is
written in the same transaction as the rows. texts.duckdb goes first: a text too many harms nobody.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from hbench.core.failure import StepError
from hbench.store.artifacts import PLAN_TABLES
from hbench.store.database_file import Broken, DatabaseFile, Held, is_broken, is_held
from hbench.store.pending import Pending, look, read_rows_file
from hbench.store.schema import create, stamp
from hbench.store.staging import Stage
from hbench.store.tables import TABLES

MAIN, TEXTS = "hbench.duckdb", "texts.duckdb"
BATCH = 500  # steps a transaction: readers wait for one at most
ALONE = 4000  # the same in files that nobody reads yet: rows by the hundred thousand go past the journal, at 2/3 of the time
COPY_EVERY_S, COPY_SHARE = 3.0, 20.0  # a copy costs the whole file: at most one every max(3 s, 20 x the last one)
_PATIENCE_S = 0.3  # most readers are gone by then


@dataclass(frozen=True)
class FoldResult:
    """how: `folded`; `nothing` was new; `busy`: another process is folding; `held`: somebody has the database open
    and the next copy is not due; `failed`. messages: for people, also when it went well (a database put aside)."""

    how: Literal["folded", "nothing", "busy", "held", "failed"]
    steps: int = 0
    seconds: float = 0.0
    messages: tuple[str, ...] = ()


def fold(folder: Path | str, *, wait_s: float = 0.0) -> FoldResult:
    """Folds whatever has finished. Waits at most `wait_s` for another process that folds. Never raises."""
    return _fold(Path(folder), wait_s, anew=False)


def rebuild(folder: Path | str, *, wait_s: float = 60.0) -> FoldResult:
    """Makes both databases anew from steps/, plans/ and runs/, and puts them in place. Never raises."""
    return _fold(Path(folder), wait_s, anew=True)


def _fold(folder: Path, wait_s: float, anew: bool) -> FoldResult:
    began = time.monotonic()
    if not any((folder / name).is_dir() for name in ("steps", "plans", "runs", "exhibits")):
        return FoldResult("nothing")
    try:
        with _fold_lock(folder / "fold.lock", wait_s) as lock:
            if lock is None:
                return FoldResult("busy")
            folding = _Folding(folder, lock)
            how = folding.run(anew)
            return FoldResult(how, folding.steps, time.monotonic() - began, tuple(folding.messages))
    except Exception as trouble:  # a run must go on, whatever is wrong with the database
        said = f"the database is behind: {trouble or type(trouble).__name__}"
        return FoldResult("failed", 0, time.monotonic() - began, (said,))


class _Folding:
    """One fold, under the lock."""

    def __init__(self, folder: Path, lock: IO[str]):
        self.folder, self.steps, self.messages = folder, 0, []
        self._lock, self._copying_since, self._anew = lock, None, False
        self._main, self._texts = DatabaseFile(folder / MAIN), DatabaseFile(folder / TEXTS)
        self._staging = folder / ".folding"

    def run(self, anew: bool) -> Literal["folded", "nothing", "held"]:
        self._clear_up()  # what a killed fold left
        self._staging.mkdir()
        if anew or not (self._main.path.exists() and self._texts.path.exists()):
            self._start_anew()
        try:
            while True:
                try:
                    return self._fold_and_swap()
                except Held as held:
                    if not self._get_round(held.file):
                        return "held"
                except _Outdated:
                    self._start_anew()
                except _Overtaken:
                    continue  # what is there now says it
                except Broken as broken:
                    if self._anew:
                        raise  # just made: it is not the files
                    self._put_aside(broken)
        finally:
            self._clear_up()

    def _fold_and_swap(self) -> Literal["folded", "nothing"]:
        self.steps = 0
        with self._texts.opened(read_only=not self._texts.replacement, patience_s=_PATIENCE_S):
            pass  # readable
        with self._main.opened(read_only=not self._main.replacement, patience_s=_PATIENCE_S) as database:
            pending = self._look(database)
        batch = ALONE if self._main.replacement and self._texts.replacement else BATCH
        for start in range(0, len(pending.steps), batch):
            self._fold_steps(pending.steps[start : start + batch])
        if pending:
            self._fold_rest(pending)
        replaced = self._main.replacement or self._texts.replacement
        self._texts.swap()
        self._main.swap()
        if self._copying_since is not None:
            _note_copy(self._lock, time.monotonic() - self._copying_since)
        return "folded" if pending or replaced else "nothing"

    def _look(self, database: object) -> Pending:
        def folded(prefixes: list[str]) -> set[str]:
            sql = "select step_key from steps where left(step_key, 2) in (select unnest(?))"
            return {key for (key,) in database.execute(sql, [prefixes]).fetchall()}

        marks = dict(database.execute("select place, mark from folded").fetchall())
        if marks.get("schema") != stamp():
            raise _Outdated
        os.utime(self._lock.name)
        return look(self.folder, marks, folded, os.stat(self._lock.name).st_mtime_ns)

    def _fold_steps(self, steps: list[Path], by_name: bool = False) -> None:
        """Folds `steps` at once; when one spoils it, all but that one, which is noted and passed over from then on.

        by_name: some may be of an older hbench, whose tables had fewer columns; tried when it does not go without.
        """
        import duckdb

        stage = Stage(self._staging, by_name)
        try:
            for step in steps:
                stage.add_step(step)
            self._insert(stage, steps)
            self.steps += len(steps)
            return
        except (duckdb.Error, StepError, ValueError, KeyError, TypeError, AttributeError) as spoilt:
            machine = isinstance(spoilt, (duckdb.IOException, duckdb.OutOfMemoryException))
            if machine or is_held(spoilt) or is_broken(spoilt):
                raise
            why = str(spoilt)
        finally:
            stage.close()
        if not by_name:
            self._fold_steps(steps, by_name=True)
        elif len(steps) == 1:
            self._pass_over(steps[0], why)
        else:
            self._fold_steps(steps[: len(steps) // 2], by_name)
            self._fold_steps(steps[len(steps) // 2 :], by_name)

    def _pass_over(self, step: Path, why: str) -> None:
        self.messages.append(f"step {step.name} is not in the database: {why}")
        self._insert_marks({f"step {step.name}": why})

    def _fold_rest(self, pending: Pending) -> None:
        stage = Stage(self._staging)
        try:
            for file, tables in [(f, PLAN_TABLES) for f in pending.plans] + [(f, _CELLS) for f in pending.exhibits]:
                try:
                    stage.add_owned(file.name.partition(".")[0], tables, read_rows_file(file))
                except ValueError as garbled:
                    self.messages.append(f"{file} cannot be read: {garbled}")
            if newer := stage.add_journal(pending.journal):
                self.messages.append(f"a newer hbench wrote rows of {', '.join(sorted(newer))} into runs/; they are left out")
            stage.add_marks(pending.marks)
            self._insert(stage)
        finally:
            stage.close()

    def _insert_marks(self, marks: dict[str, str]) -> None:
        stage = Stage(self._staging)
        try:
            stage.add_marks(marks)
            self._insert(stage)
        finally:
            stage.close()

    def _insert(self, stage: Stage, steps: Sequence[Path] = ()) -> None:
        """steps: the ones that are staged. Raises _Overtaken where one of them is in the database after all."""
        if stage.has("texts"):
            with self._texts.opened(read_only=False, patience_s=_PATIENCE_S) as database:
                stage.insert(database, ["texts"])
        with self._main.opened(read_only=False, patience_s=_PATIENCE_S) as database:
            if not self._main.replacement and _holds(database, steps):
                raise _Overtaken
            stage.insert(database, TABLES.keys() - {"texts"})

    def _get_round(self, file: DatabaseFile) -> bool:
        """Works on a copy of a file that others hold, when one is due."""
        if file.replacement or not _copy_is_due(self._lock):
            return False
        self._copying_since = self._copying_since or time.monotonic()
        if not file.wal.exists():
            file.copy()
        if file.wal.exists():  # also when it appeared just now: the copy lacks what is in there
            self._start_anew()
        return True

    def _start_anew(self) -> None:
        self._anew = True
        self._texts.start_anew()
        self._main.start_anew()
        create(self._main, self._texts)

    def _put_aside(self, broken: Broken) -> None:
        aside = broken.file.put_aside()
        old, new = broken.file.path.name, aside.name
        self.messages.append(f"{old} could not be read ({broken}); it is now {new}, and steps/ gives a new one")
        self._start_anew()

    def _clear_up(self) -> None:
        self._main.discard()
        self._texts.discard()
        shutil.rmtree(self._staging, ignore_errors=True)


class _Outdated(Exception):
    """The database has the tables of another hbench."""


class _Overtaken(Exception):
    """It was looked at in a file that another has taken the place of since: DuckDB goes on with the one that a query of this
    process has open."""


def _holds(database: Any, steps: Sequence[Path]) -> bool:
    sql = "select count(*) from steps where step_key in (select unnest(?))"
    return bool(steps) and database.execute(sql, [[step.name for step in steps]]).fetchone()[0] > 0


_CELLS = ("exhibit_cells",)


@contextmanager
def _fold_lock(file: Path, wait_s: float) -> Iterator[IO[str] | None]:
    """The open lock file, or None when another process kept it for longer than `wait_s`. Ends with the process."""
    with file.open("a+") as lock:
        ends = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= ends:
                    yield None
                    return
                time.sleep(0.02)
        yield lock


def _copy_is_due(lock: IO[str]) -> bool:
    lock.seek(0)
    text = lock.read()
    try:
        last = json.loads(text)
        since = time.time() - last["at"]
        return since < 0 or since >= max(COPY_EVERY_S, COPY_SHARE * last["took_s"])  # a clock set back delays nothing
    except (ValueError, KeyError, TypeError):
        return True  # none yet


def _note_copy(lock: IO[str], took_s: float) -> None:
    lock.truncate(0)
    lock.write(json.dumps({"at": time.time(), "took_s": took_s}))
    lock.flush()
