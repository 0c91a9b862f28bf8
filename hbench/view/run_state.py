"""What a run has done and is doing: from its journal's rows, and from what it leaves on disk while it works.

Nothing here touches a run: it writes its journal and unfinished artifacts anyway, and they are only looked at.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hbench.store.lease import STALE_S, read_holder
from hbench.view.reading import Asked

ENDED = ("ran", "cached", "failed", "spent", "skipped")
COUNTED_BYTES = 64 << 20  # of an unfinished artifact's rows; beyond that they are not counted


@dataclass(frozen=True)
class RunState:
    """state: finished, failed, spent (its budget was), interrupted; going on; or stopped: no end was written, and nothing has moved for a minute.

    counts: ran, cached, failed, spent and skipped steps, of `steps` in all.
    """

    run_id: str
    spec: str
    spec_digest: str
    plan: str
    state: str
    started_at: datetime
    seconds: float
    limited: int | None
    counts: Mapping[str, int]
    steps: int

    @property
    def is_going_on(self) -> bool:
        return self.state == "going on"

    @property
    def ended(self) -> int:
        return sum(self.counts.values())

    @property
    def shares(self) -> list[tuple[str, float]]:
        """ENDED with its share of all steps, in per cent."""
        return [(status, 100 * self.counts[status] / max(self.steps, 1)) for status in ENDED if self.counts[status]]


@dataclass(frozen=True)
class UnderWay:
    """An artifact that is being made. lines: rollouts or other pieces that it has so far. holder: who makes it."""

    step_key: str
    lines: int
    seconds: float
    holder: str


STATES = """
select
  r.run_id,
  coalesce(s.name, left(r.spec_digest, 8)) as spec,
  r.spec_digest,
  coalesce(s.plan, '') as plan,
  r.outcome,
  r.started_at,
  r.ended_at,
  r.limited,
  (select count(*) from plan_steps as p where p.spec_digest = r.spec_digest) as steps
from runs as r
left join specs as s using (spec_digest)
"""

COUNTS = """
select
  run_id,
  status,
  count(*)
from run_steps
where run_id in (select unnest(?))
group by all
"""


def states(reading: Asked, rows: Sequence[Mapping[str, Any]], folder: Path) -> list[RunState]:
    """A state for each row of STATES, in their order. folder: the results folder."""
    counts: dict[str, dict[str, int]] = {row["run_id"]: dict.fromkeys(ENDED, 0) for row in rows}
    for run_id, status, count in reading.query(COUNTS, [list(counts)]).rows if counts else ():
        counts[run_id][status] = count
    moved_at = _moved_at(folder) if any(row["outcome"] is None for row in rows) else 0.0
    return [_state(row, counts[row["run_id"]], folder, moved_at) for row in rows]


def _state(row: Mapping[str, Any], counts: Mapping[str, int], folder: Path, moved_at: float) -> RunState:
    now = datetime.now(UTC).replace(tzinfo=None)
    state = row["outcome"]
    if state is None:
        moved_at = max(moved_at, _changed_at(folder / "runs" / f"{row['run_id']}.jsonl"))
        state = "going on" if time.time() - moved_at < STALE_S else "stopped"
    ended_at = row["ended_at"] or (now if state == "going on" else None)
    seconds = (ended_at - row["started_at"]).total_seconds() if ended_at else None
    named = {name: row[name] for name in ("run_id", "spec", "spec_digest", "plan", "started_at", "limited", "steps")}
    return RunState(state=state, seconds=seconds, counts=counts, **named)


def under_way(folder: Path) -> list[UnderWay]:
    """The artifacts that runs in this folder are making, the newest first."""
    found = [UnderWay(lease.stem, *_so_far(lease.with_suffix(".part")), str(read_holder(lease) or "")) for lease in _leases(folder)]
    return sorted(found, key=lambda each: each.seconds)


def _so_far(part: Path) -> tuple[int, float]:
    """Lines that it holds, and the seconds since it was begun or taken up."""
    lines = 0
    with suppress(OSError), (part / "rows.jsonl").open("rb") as file:
        while file.tell() < COUNTED_BYTES and (piece := file.read(1 << 20)):
            lines += piece.count(b"\n")
    return lines, max(0.0, time.time() - _changed_at(part))


def _moved_at(folder: Path) -> float:
    """When a run in this folder last gave a sign of life: who holds a lease touches it every ten seconds."""
    return max((_changed_at(lease) for lease in _leases(folder)), default=0.0)


def _leases(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        for prefix in os.scandir(folder / "steps"):
            with suppress(OSError):
                yield from (Path(entry.path) for entry in os.scandir(prefix) if entry.name.endswith(".lock"))


def _changed_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
