"""Queries of the SQL box: each in a process of its own, which is ended when it takes too long."""

import json
import multiprocessing
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.view import sql_asked

LIMIT_S = 15.0
START_S = 60.0  # a machine that is busy with a run may need some time to start a process
AT_ONCE = threading.Semaphore(2)


@dataclass(frozen=True)
class Answer:
    """rows: of None, bool, numbers and texts. more: there are others, which were not read."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    seconds: float


def ask(folder: Path, sql: str, rows: int, characters: int, limit_s: float = LIMIT_S) -> Answer:
    """What reading statements give on the results or the bundle in `folder`: at most `rows`, of `characters` or so.

    They see tables and views, no files, and change nothing. Raises HbenchError when they are refused, fail, take longer
    than `limit_s` or too much memory.
    """
    if not AT_ONCE.acquire(timeout=limit_s):
        raise HbenchError("other queries are at work; try again when they have ended")
    try:
        told = json.loads(_told(folder, sql, (rows, characters), limit_s))
    finally:
        AT_ONCE.release()
    if "error" in told:
        raise HbenchError(told["error"])
    return Answer(tuple(told["columns"]), tuple(map(tuple, told["rows"])), told["more"], told["seconds"])


def _told(folder: Path, sql: str, most: tuple[int, int], limit_s: float) -> bytes:
    here, there = _context().Pipe(duplex=False)
    process = _context().Process(target=sql_asked.work, args=(there, folder, sql, most), daemon=True)
    process.start()
    there.close()
    try:
        _hear(here, START_S)
        return _hear(here, limit_s)
    finally:
        process.kill()
        process.join()
        here.close()


def _hear(pipe: Any, limit_s: float) -> bytes:
    began = time.monotonic()
    try:
        if pipe.poll(limit_s):
            return pipe.recv_bytes()
    except EOFError:
        raise HbenchError("the query ended without an answer: it took more memory than it may have") from None
    raise HbenchError(f"the query took longer than {time.monotonic() - began:.0f} s and was stopped")


@cache
def _context() -> Any:
    """Processes are forked from one that has loaded what they need, and holds nothing else of this one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["duckdb", "hbench.view.sql_asked"])
    return context
