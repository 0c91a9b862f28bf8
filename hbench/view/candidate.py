"""One candidate: its diff against the parent, the report that caused it, its reward term by term, and how it ran."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hbench.view.caused import Caused, caused, first
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
    caused: Caused
    terms: tuple[Term, ...]
    drawn: Mapping[str, Any] | None
    chosen: bool | None
    measured: tuple[Measured, ...]

    @property
    def diffs(self) -> tuple[FileDiff, ...]:
        """What it changed: an evolver's change its own file alone, though the bank that came of it has others' too."""
        found = file_diffs(self.before, self.after) if self.after is not None else ()
        return tuple(each for each in found if self.caused.path in (None, each.path))

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
    drawn = first(reading, "select * from completions where step_key = ? and candidate = ?", [step_key, number])
    led = caused(reading, row, kind, drawn)
    return CandidateRecord(
        row=row,
        kind=kind,
        places=where,
        response=response,
        calls=calls(reading, [step_key, number, "", 0]),
        before=files_of(reading, row["parent_id"]) if row["parent_id"] else {},
        after=files_of(reading, row["harness_id"]) if row["harness_id"] else None,
        caused=led,
        terms=_terms(reading, [step_key, *(key for place, key in beside if place.purpose == "reward")], number),
        drawn=drawn,
        chosen=_chosen(reading, beside),
        measured=measured(reading, row, (beside, drawn, led.family)),
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
    found = first(reading, _SLOT, [select]) if select else None
    return None if found is None else found["slot"] == slot
