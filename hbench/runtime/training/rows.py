"""The rows of a training step on their way: each rank appends to a file of its own, the driver cuts and merges them."""

import json
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.output import Row
from hbench.store.rows import admit, encode

# Of table `updates`: times, and shares of time, which no two runs have in common.
MEASURED = frozenset({"seconds", "reward_seconds", "reward_share", "generation_seconds"})
_UPDATE = re.compile(rb'\{"update":(\d+),')
_DONE = re.compile(rb'\{"update":(\d+),"rows":\{"updates":')  # a trainer notes an update's values behind it


def rows_file(folder: Path, rank: int) -> Path:
    return folder / f"rows-{rank}.jsonl"


def rows_files(folder: Path) -> list[Path]:
    """Those of every rank that has ever written, in order of rank."""
    return sorted(folder.glob("rows-*.jsonl"), key=lambda file: int(file.stem.removeprefix("rows-")))


class RankRows:
    """Appends lines {"update", "rows": {table: [...]}}. A line that is whole survives a kill -9."""

    def __init__(self, file: Path):
        self._descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o666)

    def append(self, update: int, rows: Mapping[str, Sequence[Row]]) -> None:
        """Raises StepError for rows that do not fit their tables."""
        line = encode({"update": update, "rows": admit(rows)}) + b"\n"
        while line:
            line = line[os.write(self._descriptor, line) :]

    def note(self, update: int, name: str, value: float) -> None:
        """A row of `updates`; a value that is no number is NULL."""
        column = "measured" if name in MEASURED else "value"
        row = {"update": update, "name": name, column: value if math.isfinite(value) else None}
        self.append(update, {"updates": [row]})


def cut(file: Path, last: int) -> None:
    """Leaves only whole lines of updates up to `last`: those behind it are trained again, and write them again."""
    fresh = file.with_suffix(".cut")
    with file.open("rb") as old, fresh.open("wb") as new:
        for line in old:
            if 0 < _update(line) <= last:
                new.write(line)
    os.replace(fresh, file)


class Progress:
    """How far a rank is, read from its file as it grows."""

    def __init__(self, file: Path):
        self.file, self.update, self._read_to = file, 0, 0

    def look(self) -> int:
        """The newest update that is done; 0 before the first."""
        if self.file.exists() and self.file.stat().st_size > self._read_to:
            with self.file.open("rb") as lines:
                lines.seek(self._read_to)
                for line in lines:
                    if line.endswith(b"\n"):
                        self._read_to += len(line)
                        found = _DONE.match(line)
                        self.update = max(self.update, int(found[1])) if found else self.update
        return self.update


def lines(folder: Path) -> Iterator[dict[str, list[dict]]]:
    """The rows of every line of every rank, a line at a time."""
    for file in rows_files(folder):
        with file.open("rb") as some:
            for line in filter(_update, some):
                yield json.loads(line)["rows"]


def trouble(folder: Path) -> str:
    """Why a completion of the newest update has no reward; "" where all have one."""
    newest, found = 0, ""
    for file in rows_files(folder):
        with file.open("rb") as some:
            for line in some:
                if (update := _update(line)) > newest:
                    newest, found = update, ""
                if update == newest and not found and b'"trouble":' in line:
                    rows = json.loads(line)["rows"].get("completions", ())
                    found = next((row["trouble"] for row in rows if "trouble" in row), "")
    return found


def _update(line: bytes) -> int:
    """Of a whole line; 0 for a torn one."""
    found = _UPDATE.match(line) if line.endswith(b"\n") else None
    return int(found[1]) if found else 0


def means(completions: Iterable[Row], candidates: Iterable[Row], terms: Iterable[Row]) -> list[dict[str, Json]]:
    """Rows of `updates` over the completions of all ranks: each term's mean, and failed_share.

    failed_share: whose edit did not parse or apply; an explicit no-change is no failure. A completion without a reward
    counts in neither.
    """
    update_of = {row["candidate"]: row["update"] for row in completions if row.get("reward") is not None}
    found: dict[tuple[int, str], list[float]] = defaultdict(list)
    for row in candidates:
        if row["candidate"] in update_of:
            failed = row["outcome"] not in ("applied", "no_change")
            found[update_of[row["candidate"]], "failed_share"].append(float(failed))
    for row in terms:
        if row["candidate"] in update_of:
            found[update_of[row["candidate"]], row["term"]].append(row["value"])
    return [
        {"update": update, "name": name, "value": math.fsum(values) / len(values)}
        for (update, name), values in sorted(found.items())
    ]
