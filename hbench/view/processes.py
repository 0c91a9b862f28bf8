"""Work that the page leaves to processes of their own, so that the page only reads and never waits for it."""

import multiprocessing
import signal
from functools import cache
from pathlib import Path
from typing import Any


@cache
def context() -> Any:
    """Processes are forked from one that has loaded what they need, and holds nothing else of this one."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["duckdb", "hbench.view.sql_asked", "hbench.store.database"])
    return found


def fold_apart(folder: Path) -> None:
    """Folds what has finished, and returns when that has ended.

    A process that reads a database and folds it would, with every file that it closes, drop the locks that it reads under.
    """
    process = context().Process(target=_fold, args=(folder,), daemon=True)
    process.start()
    process.join()


def _fold(folder: Path) -> None:
    from hbench.store.database import fold

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    fold(folder)
