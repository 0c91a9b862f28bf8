"""Artifacts that nobody needs: found, and removed so that no reader sees half of one."""

import os
import shutil
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hbench.store.lease import Lease, Watch

PART, GONE = ".part", ".gone"  # of a step that is not finished; of one that is being removed


@dataclass(frozen=True)
class Unneeded:
    """folder: of a step, finished or not."""

    folder: Path
    key: str
    bytes: int


def unneeded(results: Path, needed: Container[str], since: float) -> list[Unneeded]:
    """The steps in `results` that are not `needed` and that nobody wrote to after `since` (seconds of the epoch)."""
    return sorted(_found(results / "steps", needed, since), key=lambda each: each.folder)


def _found(steps: Path, needed: Container[str], since: float) -> Iterator[Unneeded]:
    for folder in steps.glob("??/*"):
        key = folder.name.removesuffix(PART).removesuffix(GONE)
        if not folder.is_dir() or "." in key or (key in needed and folder.suffix != GONE):
            continue
        states = list(_states(folder))
        if folder.suffix == GONE or max((state.st_mtime for state in states), default=since) < since:
            yield Unneeded(folder, key, sum(state.st_size for state in states))


def _states(folder: Path) -> Iterator[os.stat_result]:
    """Of the folder and all that is in it; what somebody removes meanwhile is left out."""
    for entry in (folder, *folder.rglob("*")):
        with suppress(FileNotFoundError):
            yield entry.lstat()


def remove(each: Unneeded) -> bool:
    """Removes it, at once for whoever looks; False where somebody works at it, and it stays."""
    lease = Watch(each.folder.with_name(each.key + ".lock")).try_take()
    if not isinstance(lease, Lease):
        return False
    try:
        gone = each.folder.with_name(each.key + GONE)
        if each.folder != gone:
            shutil.rmtree(gone, ignore_errors=True)
            os.rename(each.folder, gone)
        shutil.rmtree(gone)
        return True
    finally:
        lease.drop()
