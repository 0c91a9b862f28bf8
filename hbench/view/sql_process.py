"""Queries of the SQL box: each in a process of its own, which is ended when it takes too long."""

import json
import signal
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.view import sql_asked
from hbench.view.processes import start
from hbench.view.sql_asked import Most

BUSY = 4  # on a machine that a run keeps busy, a query may take so many times its seconds of processor time
START_S = 60.0
AT_ONCE = threading.Semaphore(2)


@dataclass(frozen=True)
class Answer:
    """rows: of None, bool, numbers and texts. more: there are others, which were not read."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    seconds: float


def ask(folder: Path, sql: str, most: Most, exhibit: str | None = None) -> Answer:
    """What reading statements give on the results or the bundle in `folder`; with what an exhibit's SQL gives as `units`.

    They see tables and views, no files, and change nothing. Raises HbenchError when they are refused, fail, or take more
    time or memory than they may.
    """
    if not AT_ONCE.acquire(timeout=most.seconds):
        raise HbenchError("other queries are at work; try again when they have ended")
    try:
        told = json.loads(_told((folder, sql, most, exhibit)))
    finally:
        AT_ONCE.release()
    if "error" in told:
        raise HbenchError(told["error"])
    return Answer(tuple(told["columns"]), tuple(map(tuple, told["rows"])), told["more"], told["seconds"])


def _told(asked: tuple[Path, str, Most, str | None]) -> bytes:
    process, here = start(sql_asked.work, *asked)
    most = asked[2]
    try:
        for patience_s in (START_S, BUSY * most.seconds):
            if not here.poll(patience_s):
                raise HbenchError(f"the query took longer than {patience_s:.0f} s and was stopped")
            told = here.recv_bytes()
        return told
    except EOFError:
        process.join()
        late = process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
        took = f"longer than {most.seconds} s" if late else "more memory than it may have"
        raise HbenchError(f"the query took {took} and was stopped") from None
    finally:
        process.kill()
        process.join()
        here.close()
