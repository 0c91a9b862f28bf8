"""Exhibits that the page has made: one at a time, each again when what it is made from has changed."""

import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TookLonger
from dataclasses import dataclass
from pathlib import Path

from hbench.core.published import BUNDLE
from hbench.exhibits.exhibit import Exhibit, regenerate
from hbench.exhibits.figure import figure_files
from hbench.store.database import MAIN
from hbench.view.processes import apart
from hbench.view.reading import Reading, place_of


@dataclass(frozen=True)
class Made:
    """figures: file name -> its bytes."""

    exhibit: Exhibit
    figures: dict[str, bytes]

    @property
    def pictures(self) -> list[str]:
        return [name for name in self.figures if name.endswith(".svg")]


_KNOWN: dict[str, tuple[tuple, Future]] = {}  # name -> what it was made from, and the exhibit
_LOOKING, _MAKING = threading.Lock(), threading.Lock()


def made(reading: Reading, name: str, wait_s: float | None) -> Made | None:
    """The exhibit as the database or the bundle has it now; None while that takes longer than `wait_s`.

    Raises HbenchError where it cannot be made.
    """
    source = (str(reading.folder), _stamp(reading.folder / (BUNDLE if reading.is_bundle else MAIN)))
    with _LOOKING:
        known, future = _KNOWN.get(name, (None, None))
        if future is None or (known != source and future.done()):
            future = Future()
            _KNOWN[name] = (source, future)
            threading.Thread(target=_fill, args=(future, reading.folder, name), name=f"hbench exhibit {name}", daemon=True).start()
    try:
        return future.result(wait_s)
    except TookLonger:
        if future.done():
            raise
        return None


def _fill(future: Future, folder: Path, name: str) -> None:
    try:
        with _MAKING:  # one at a time
            future.set_result(apart(_make, folder, name))
    except Exception as bad:
        future.set_exception(bad)


def _make(folder: Path, name: str) -> Made:
    results, bundle = place_of(folder)
    exhibit = regenerate(name, results, (), bundle)
    return Made(exhibit, figure_files(exhibit) if exhibit.block.figure else {})


def _stamp(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns
