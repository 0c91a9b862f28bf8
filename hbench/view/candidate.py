"""One candidate: its diff against the parent, the report that caused it, its reward term by term, and how it ran."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hbench.view.file_diffs import FileDiff, file_diffs
from hbench.view.harness import files_of
from hbench.view.measured import Measured, measured
from hbench.view.page import NotFound
from hbench.view.placed import Place, of_round, places
from hbench.view.reading import Asked
from hbench.view.rollout import Call, calls


@dataclass(frozen=True)
class Term:
    """One term of a reward. value: in [0, 1]; None where it could not be had."""

    name: str
    value: float | None
    weight: float

    @property
    def part(self) -> float | None:
        return None if self.value is None else self.value * self.weight


@dataclass(frozen=True)
class Report:
    """What the proposer read. text: None where the text is not there."""

    step_key: str
    harness_id: str
    text: str | None


@dataclass(frozen=True)
class CandidateRecord:
    """row: the columns of candidates. kind: its step's. before: the parent's files. after: None where the edit failed.

    response: None where the text is not there. chosen: the selection rule took it; None where nothing was selected.
    drawn: its row of completions, where a trainer drew it. measured: each step that ran it.
    """

    row: Mapping[str, Any]
    kind: str
    places: tuple[Place, ...]
    response: str | None
    calls: tuple[Call, ...]
    before: Mapping[str, str]
    after: Mapping[str, str] | None
    report: Report | None
    terms: tuple[Term, ...]
    drawn: Mapping[str, Any] | None
    chosen: bool | None
    measured: tuple[Measured, ...]

    @property
    def diffs(self) -> tuple[FileDiff, ...]:
        return file_diffs(self.before, self.after) if self.after is not None else ()

    @property
    def reward(self) -> float | None:
        """The sum of its terms, and what further revisions added; None where there is none."""
        if self.drawn:
            return self.drawn["reward"]
        parts = [term.part for term in self.terms]
        return sum(parts) if parts and None not in parts else None


def candidate(reading: Asked, step_key: str, number: int) -> CandidateRecord:
    """Raises NotFound."""
    found = reading.rows(_CANDIDATE, [step_key, number])
    if not found:
        raise NotFound(f"step {step_key[:8]} has no candidate {number}")
    row = found[0]
    kind, response = row.pop("kind"), row.pop("response")
    where = places(reading, [step_key])[step_key]
    beside = of_round(reading, where[0]) if where and kind == "propose" else []
    drawn = _first(reading, "select * from completions where step_key = ? and candidate = ?", [step_key, number])
    context = _context(reading, step_key, kind, drawn, number)
    return CandidateRecord(
        row=row,
        kind=kind,
        places=where,
        response=response,
        calls=calls(reading, [step_key, number, "", 0]),
        before=files_of(reading, row["parent_id"]) if row["parent_id"] else {},
        after=files_of(reading, row["harness_id"]) if row["harness_id"] else None,
        report=_report(reading, context["report_key"]) if context else _read_report(reading, step_key),
        terms=_terms(reading, [step_key, *(key for place, key in beside if place.purpose == "reward")], number),
        drawn=drawn,
        chosen=_chosen(reading, beside),
        measured=measured(reading, row, (beside, drawn, context["family"] if context else None)),
    )


_CANDIDATE = """
select
  c.*,
  s.kind,
  said.text as response
from (select * from candidates where step_key = ? and candidate = ?) as c
left join steps as s using (step_key)
left join texts.texts as said on said.digest = c.response_digest
"""


def _first(reading: Asked, sql: str, values: list[Any]) -> dict[str, Any] | None:
    return next(iter(reading.rows(sql, values)), None)


def _context(
    reading: Asked, step_key: str, kind: str, drawn: Mapping[str, Any] | None, number: int
) -> dict[str, Any] | None:
    """The edit context that it answers, where its step had many."""
    if drawn:
        return _first(reading, _CONTEXTS, [step_key, drawn["context"]])
    if kind != "demonstrate":
        return None
    per_context = reading.query("select (params ->> '$.per_context')::bigint from steps where step_key = ?", [step_key]).rows[0][0]
    return _first(reading, _CONTEXTS, [step_key, number // max(per_context or 1, 1)])


_READ_BY = """
select distinct source.step_key
from run_steps as mine
join plan_edges as edge on edge.step_id = mine.step_id
join run_steps as source on source.step_id = edge.from_step_id and source.run_id = mine.run_id
where mine.step_key = ?
"""

_CONTEXTS = f"select * from edit_contexts where step_key in ({_READ_BY}) and position = ? order by step_key"


def _read_report(reading: Asked, step_key: str) -> Report | None:
    sql = f"select step_key from reports where step_key in ({_READ_BY}) order by step_key"
    found = _first(reading, sql, [step_key])
    return _report(reading, found["step_key"]) if found else None


def _report(reading: Asked, step_key: str) -> Report | None:
    found = _first(
        reading,
        "select r.step_key, r.harness_id, t.text from reports as r left join texts.texts as t on t.digest = r.text_digest "
        "where r.step_key = ?",
        [step_key],
    )
    return Report(**found) if found else None


def _terms(reading: Asked, step_keys: list[str], number: int) -> tuple[Term, ...]:
    """Of its own step, or of the step that rewarded it."""
    own, *rewarding = step_keys
    sql = "select term, value, weight from reward_terms where step_key = ? and candidate = ? order by weight desc, term"
    rows = reading.query(sql, [own, number]).rows
    if not rows and rewarding:
        rows = reading.query(sql, [rewarding[0], 0]).rows
    return tuple(Term(*row) for row in rows)


_SLOT = """
select coalesce(c.slot, (s.value ->> '$.slot')::bigint) as slot
from selections as c
left join steps as s using (step_key)
where c.step_key = ?
"""


def _chosen(reading: Asked, beside: list[tuple[Place, str]]) -> bool | None:
    select = next((key for place, key in beside if place.purpose == "select"), None)
    slot = next((place.slot for place, _ in beside if place.purpose == "propose"), None)
    found = _first(reading, _SLOT, [select]) if select else None
    return None if found is None else found["slot"] == slot
