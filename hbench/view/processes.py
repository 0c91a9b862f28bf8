"""Work that the page leaves to processes of their own, so that the page only reads and never waits for it."""

import multiprocessing
import signal
from collections.abc import Callable
from functools import cache
from typing import Any

from hbench.core.failure import HbenchError


@cache
def context() -> Any:
    """Processes are forked from one that has loaded what they need, and holds nothing else of this one."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["__main__", "duckdb", "hbench.view.sql_asked", "hbench.store.database"])
    return found


def apart(work: Callable[..., Any], *given: Any) -> Any:
    """What `work(*given)` gives, done by a process of its own. Raises HbenchError where it does, or where it breaks.

    A process that reads a database and also folds it would, with every file that it closes, drop the locks that it reads
    under; and one that reckons for seconds would let pages wait.
    """
    here, there = context().Pipe(duplex=False)
    process = context().Process(target=_do, args=(there, work, given), daemon=True)
    process.start()
    there.close()
    try:
        trouble, made = here.recv()
    except EOFError:
        raise HbenchError(f"{work.__name__} ended without a result; the lines that `hbench view` printed may say why") from None
    finally:
        process.join()
        here.close()
    if trouble:
        raise HbenchError(trouble)
    return made


def _do(pipe: Any, work: Callable[..., Any], given: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    try:
        pipe.send(("", work(*given)))
    except HbenchError as bad:
        pipe.send((str(bad), None))
