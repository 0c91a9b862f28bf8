"""Work that the page leaves to processes of their own, so that the page only reads and never waits for it."""

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from hbench.core.failure import HbenchError


@cache
def context() -> Any:
    """Processes are forked from one that has loaded what they need, and holds nothing else of this one."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["duckdb", "hbench.view.sql_asked", "hbench.store.database"])
    return found


_STARTING = threading.Lock()


def start(work: Callable[..., None], *given: Any) -> tuple[Any, Any]:
    """A process that does `work(pipe, *given)`, and this end of its pipe."""
    here, there = context().Pipe(duplex=False)
    process = context().Process(target=work, args=(there, *given), daemon=True)
    with _STARTING, _nameless_main():
        process.start()
    there.close()
    return process, here


@contextmanager
def _nameless_main() -> Iterator[None]:
    """While open, a process that starts does not load the program that started this one: it may be a script that serves."""
    main = sys.modules["__main__"]
    before = {name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)}
    main.__file__ = main.__spec__ = None
    try:
        yield
    finally:
        del main.__file__, main.__spec__
        vars(main).update(before)


def apart(work: Callable[..., Any], *given: Any) -> Any:
    """What `work(*given)` gives, done by a process of its own. Raises HbenchError where it does, or where it breaks.

    A process that reads a database and also folds it would, with every file that it closes, drop the locks that it reads
    under; and one that reckons for seconds would let pages wait.
    """
    process, here = start(_do, work, given)
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
