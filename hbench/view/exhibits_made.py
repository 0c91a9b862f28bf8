"""Exhibits that the page has made: one at a time, each again when what it is made from has changed."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookLonger
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hbench.core.published import BUNDLE
from hbench.exhibits.exhibit import Exhibit, regenerate
from hbench.exhibits.figure import figure_files
from hbench.store.database import MAIN
from hbench.view.reading import Reading


@dataclass(frozen=True)
class Made:
    """figures: file name -> its bytes."""

    exhibit: Exhibit
    figures: dict[str, bytes]

    @property
    def pictures(self) -> list[str]:
        return [name for name in self.figures if name.endswith(".svg")]


_KNOWN: dict[str, tuple[tuple, Future]] = {}  # name -> what it was made from, and the exhibit
_LOCK = threading.Lock()


def made(reading: Reading, name: str, wait_s: float | None) -> Made | None:
    """The exhibit as the database or the bundle has it now; None while that takes longer than `wait_s`.

    Raises HbenchError where it cannot be made.
    """
    source = (str(reading.folder), _stamp(reading.folder / (BUNDLE if reading.is_bundle else MAIN)))
    with _LOCK:
        known, future = _KNOWN.get(name, (None, None))
        if future is None or (known != source and future.done()):
            future = _maker().submit(_make, reading, name)
            _KNOWN[name] = (source, future)
    try:
        return future.result(wait_s)
    except TookLonger:
        if future.done():
            raise
        return None


def _make(reading: Reading, name: str) -> Made:
    results, bundle = reading.place
    exhibit = regenerate(name, results, (), bundle)
    return Made(exhibit, figure_files(exhibit) if exhibit.block.figure else {})


def _stamp(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


@cache
def _maker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "hbench exhibits")  # matplotlib draws on one thread at a time
