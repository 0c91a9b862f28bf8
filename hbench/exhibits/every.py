"""Many exhibits, written as they are made; a process of its own draws their figures while the next ones are made."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from hbench.exhibits.draw import load
from hbench.exhibits.exhibit import Exhibit
from hbench.exhibits.render import write_figures, write_texts


def write_every(exhibits: Iterable[Exhibit], folder: Path) -> Iterator[Exhibit]:
    """The same exhibits, the texts of each written into `folder`; all figures are there after the last one.

    Where one cannot be made, what `write` does for those before it is done.
    """
    with ProcessPoolExecutor(1, initializer=_end_with_parent) as apart:
        drawn = [apart.submit(load)]  # before the first is made: the threads of an open database would not come along
        for exhibit in exhibits:
            write_texts(exhibit, folder)
            drawn.append(apart.submit(write_figures, exhibit, folder))
            yield exhibit
    for each in drawn:
        each.result()


def _end_with_parent() -> None:
    """The process that draws ends when the one that started it does, however that ends, and leaves Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
