"""One harness: its files, the candidates that made it, those that were made of it, and how it scored."""

from collections.abc import Mapping
from dataclasses import dataclass

from hbench.view.page import NotFound
from hbench.view.placed import Place, places
from hbench.view.reading import Asked

MOST = 50  # candidates and measurements that are listed


@dataclass(frozen=True)
class Edge:
    """A candidate between this harness and another one. other_id: None where the edit failed."""

    step_key: str
    candidate: int
    outcome: str
    explanation: str
    other_id: str | None


@dataclass(frozen=True)
class Ran:
    """One step that ran it. score: mean over questions and repeats. places: what it was for."""

    step_key: str
    candidate: int
    questions: int
    score: float | None
    completion_rate: float | None
    places: tuple[Place, ...]


@dataclass(frozen=True)
class HarnessRecord:
    """files: path -> text; {} where they are not there. made_by, made_of, ran: at most MOST of each."""

    id: str
    files: Mapping[str, str]
    made_by: tuple[Edge, ...]
    made_of_it: tuple[Edge, ...]
    ran: tuple[Ran, ...]
    counts: Mapping[str, int]


def files_of(reading: Asked, harness_id: str) -> dict[str, str]:
    """path -> text; {} where the harness is not there."""
    return dict(reading.query("select path, text from harnesses where harness_id = ? order by path", [harness_id]).rows)


def harness(reading: Asked, harness_id: str) -> HarnessRecord:
    """Raises NotFound for one that nothing knows."""
    files = files_of(reading, harness_id)
    counts = reading.rows(_COUNTS, [harness_id] * 3)[0]
    if not files and not any(counts.values()):
        raise NotFound(f"there is no harness {harness_id}")
    ran = reading.rows(_RAN, [harness_id, MOST])
    where = places(reading, [row["step_key"] for row in ran])
    return HarnessRecord(
        id=harness_id,
        files=files,
        made_by=_edges(reading, "harness_id", "parent_id", harness_id),
        made_of_it=_edges(reading, "parent_id", "harness_id", harness_id),
        ran=tuple(Ran(**row, places=where[row["step_key"]]) for row in ran),
        counts=counts,
    )


def _edges(reading: Asked, this: str, other: str, harness_id: str) -> tuple[Edge, ...]:
    sql = (
        f"select step_key, candidate, outcome, explanation, {other} as other_id from candidates where {this} = ? "
        f"order by step_key, candidate limit {MOST}"
    )
    return tuple(Edge(**row) for row in reading.rows(sql, [harness_id]))


_COUNTS = """
select
  (select count(*) from candidates where harness_id = ?) as made_by,
  (select count(*) from candidates where parent_id = ?) as made_of_it,
  (select count(distinct (step_key, candidate)) from rollouts where harness_id = ?) as ran
"""

_RAN = """
select
  step_key,
  candidate,
  count(distinct question_id) as questions,
  avg(score) as score,
  avg(completed::int) as completion_rate
from rollouts
where harness_id = ?
group by step_key, candidate
order by questions desc, step_key, candidate
limit ?
"""
