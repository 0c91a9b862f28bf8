"""What has been finished and not yet folded: found by looking only into folders that changed."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hbench.core.digest import Json
from hbench.store.reading import age_of

FIRST = 1  # the schema of files that name none
_SETTLED_NS = 3_000_000_000  # a folder that changed so lately may change again within one tick of its clock


@dataclass
class Pending:
    """steps: artifact folders. plans, exhibits: files to read whole. journal: records of runs, in order.

    marks: what to note in `folded` once all of that is in.
    """

    steps: list[Path] = field(default_factory=list)
    plans: list[Path] = field(default_factory=list)
    exhibits: list[Path] = field(default_factory=list)
    journal: list[Json] = field(default_factory=list)
    marks: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.steps or self.plans or self.exhibits or self.journal)


def look(folder: Path, marks: Mapping[str, str], folded: Callable[[list[str]], set[str]], now_ns: int) -> Pending:
    """What is new in the results `folder` since `marks` were noted.

    folded: the keys already in the database among those that begin with one of the given two letters. now_ns: the
    time by the clock of the file system, which dates its folders.
    """
    pending = Pending()
    _look_for_steps(folder / "steps", marks, folded, now_ns, pending)
    pending.plans = _changed(folder / "plans", ".json", marks, pending)
    pending.exhibits = _changed(folder / "exhibits", ".cells.json", marks, pending)
    for file in _changed(folder / "runs", ".jsonl", marks, pending):
        place = f"runs/{file.name}"
        start = int(marks[place].split(" ")[0]) if place in marks else 0
        records, end = _whole_lines(file, start)
        pending.journal += records
        pending.marks[place] = f"{end} {pending.marks[place]}"
    return pending


def _look_for_steps(
    steps: Path, marks: Mapping[str, str], folded: Callable[[list[str]], set[str]], now_ns: int, pending: Pending
) -> None:
    changed = []
    for entry in filter(os.DirEntry.is_dir, _entries(steps)):
        changed_at = entry.stat().st_mtime_ns
        if marks.get(f"steps/{entry.name}") != str(changed_at):
            changed.append(entry.name)
            if now_ns - changed_at > _SETTLED_NS:
                pending.marks[f"steps/{entry.name}"] = str(changed_at)
    known = folded(changed) if changed else set()
    for name in sorted(changed):
        # Names with a dot are leases, and artifacts that are not finished.
        keys = sorted(entry.name for entry in _entries(steps / name) if "." not in entry.name)
        pending.steps += [steps / name / key for key in keys if key not in known and f"step {key}" not in marks]


def _changed(folder: Path, suffix: str, marks: Mapping[str, str], pending: Pending) -> list[Path]:
    """Files that differ from their mark in size, date or inode; the new marks go into `pending`."""
    changed = []
    for entry in _entries(folder):
        if entry.name.endswith(suffix) and not entry.name.startswith("."):
            place, stat = f"{folder.name}/{entry.name}", entry.stat()
            state = f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ino}"
            if marks.get(place, "").split(" ")[-1] != state:
                changed.append(Path(entry.path))
                pending.marks[place] = state
    return sorted(changed)


def _entries(folder: Path) -> Iterable[os.DirEntry]:
    try:
        return list(os.scandir(folder))
    except FileNotFoundError:
        return []


def _whole_lines(file: Path, start: int) -> tuple[list[Json], int]:
    """The records from byte `start` to the last whole line's end, and where that is; garbled lines are left out."""
    records = []
    with file.open("rb") as lines:
        lines.seek(start)
        for line in lines:
            if not line.endswith(b"\n"):
                break
            start += len(line)
            with suppress(ValueError):
                records.append(json.loads(line))
    return records, start


def read_rows_file(file: Path) -> dict[str, list[dict]]:
    """The rows of a plan or an exhibit. Raises ValueError when the file is not one."""
    found = json.loads(file.read_text())
    if not isinstance(found, dict) or not isinstance(found.get("rows"), dict):
        raise ValueError("no rows in it")
    if age := age_of(found.get("schema", FIRST)):
        raise ValueError(f"{age} hbench wrote it")
    return found["rows"]
