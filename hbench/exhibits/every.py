"""Every exhibit, made and written; a process of its own draws the figures while the next exhibits are made."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from hbench.exhibits.draw import load
from hbench.exhibits.exhibit import Exhibit, regenerate_all
from hbench.exhibits.render import write_figures, write_texts


def write_every(results: Path, folder: Path) -> Iterator[Exhibit]:
    """Every exhibit there is, by name, its texts written into `folder`; all figures are there after the last one."""
    with ProcessPoolExecutor(1, initializer=_end_with_parent) as apart:
        drawn = [apart.submit(load)]  # before a database is open: its threads would not come along
        for exhibit in regenerate_all(results):
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
