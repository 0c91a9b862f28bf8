"""How a candidate ran: its rollouts in each step that tried it, beside those of its parent on the same questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hbench.view.placed import Place
from hbench.view.reading import Asked

# What a candidate's rollouts are for -> what its parent's on the same questions are for.
PARENTS = {"candidate_scoring": "parent_scoring", "held_out_candidate": "held_out_round"}
Beside = tuple[Sequence[tuple[Place, str]], Mapping[str, Any] | None, str | None]


@dataclass(frozen=True)
class Tried:
    """One rollout of the candidate. before: the parent's score on the question; None where it was not run on it.

    question: how its text begins; None where it is not there.
    """

    question_id: str
    repeat: int
    question: str | None
    score: float
    before: float | None
    completed: bool
    failure: str | None
    boundary: str | None
    error: str | None

    @property
    def change(self) -> float:
        return 0.0 if self.before is None else self.score - self.before


@dataclass(frozen=True)
class Measured:
    """One step that ran it. candidate: under which number. tried: what changed most first, losses before gains.

    parent_key: the step that ran its parent on the same questions, and parent_candidate its number there.
    """

    step_key: str
    candidate: int
    purpose: str
    label: str
    tried: tuple[Tried, ...]
    parent_key: str | None = None
    parent_candidate: int = 0

    @property
    def score(self) -> float | None:
        return _mean([one.score for one in self.tried])

    @property
    def parent_score(self) -> float | None:
        """Over the questions that both were run on."""
        return _mean([one.before for one in self.tried if one.before is not None])

    @property
    def failures(self) -> dict[str, int]:
        """Kind -> how many, most first."""
        kinds = [one.failure for one in self.tried if one.failure]
        return {kind: kinds.count(kind) for kind in sorted(set(kinds), key=lambda kind: (-kinds.count(kind), kind))}


def measured(reading: Asked, candidate: Mapping[str, Any], found: Beside) -> tuple[Measured, ...]:
    """Each step that tried the candidate; none where its edit failed. candidate: its row.

    found: the steps of its round, its row of completions, and the family of its edit context: what there is of these.
    """
    beside, drawn, family = found
    if candidate["harness_id"] is None:
        return ()
    if beside:
        found = [(place, key) for purpose in PARENTS for place, key in beside if place.purpose == purpose]
        return tuple(_of_step(reading, place, key, beside) for place, key in found)
    number = _number(reading, candidate, drawn, family)
    if number is None:
        return ()
    key, parent = candidate["step_key"], None
    if family is not None:
        parent = _number_of(reading, key, candidate["parent_id"], family)
    tried = _tried(reading, (key, number), (key, parent) if parent is not None else None)
    told = (
        "tried where it was proposed"
        if number == candidate["candidate"]
        else f"an equal harness, candidate {number}, was run in its stead"
    )
    return (Measured(key, number, "trial", told, tried, key if parent is not None else None, parent or 0),) if tried else ()


def _of_step(reading: Asked, place: Place, key: str, beside: Sequence[tuple[Place, str]]) -> Measured:
    parent = next((other for its, other in beside if its.purpose == PARENTS[place.purpose]), None)
    raced = reading.query("select candidate from races where step_key = ? and slot = ?", [key, place.slot]).rows
    number = raced[0][0] if raced else 0
    tried = _tried(reading, (key, number), (parent, 0) if parent else None)
    return Measured(key, number, place.purpose, place.label, tried, parent)


def _number(reading: Asked, row: Mapping[str, Any], drawn: Mapping[str, Any] | None, family: str | None) -> int | None:
    """Under which number the candidate's own step ran its harness."""
    if drawn:
        return row["candidate"] if drawn["same_as"] is None else drawn["same_as"]
    return _number_of(reading, row["step_key"], row["harness_id"], family)


def _number_of(reading: Asked, step_key: str, harness_id: str, family: str | None) -> int | None:
    """Equal harnesses of a family are run once, under the first number."""
    sql = (
        "select min(r.candidate) from rollouts as r left join questions as q using (question_id) "
        "where r.step_key = ? and r.harness_id = ? and coalesce(q.family = ?, true)"
    )
    return reading.query(sql, [step_key, harness_id, family]).rows[0][0]


def _tried(reading: Asked, mine: tuple[str, int], parent: tuple[str, int] | None) -> tuple[Tried, ...]:
    rows = reading.rows(_TRIED, [*(parent or ("", 0)), *mine])
    return tuple(sorted((Tried(**row) for row in rows), key=lambda one: (-abs(one.change), one.change, one.failure or "~")))


_TRIED = """
with before as (select question_id, repeat, score from rollouts where step_key = ? and candidate = ?)

select
  r.question_id,
  r.repeat,
  left(q.text, 200) as question,
  r.score,
  before.score as before,
  r.completed,
  r.failure,
  r.boundary,
  r.error
from (select * from rollouts where step_key = ? and candidate = ? and failure is distinct from 'not_run') as r
left join before using (question_id, repeat)
left join questions as q using (question_id)
order by r.question_id, r.repeat
"""


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
