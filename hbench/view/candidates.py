"""Pages about candidates: a list to choose from, and one with its diff, report, reward and rollouts."""

from collections.abc import Mapping, Sequence
from typing import Any

from hbench.view.candidate import candidate
from hbench.view.ids import candidate_address
from hbench.view.listed import Filter, choices, where
from hbench.view.page import page
from hbench.view.paging import Listing, shown
from hbench.view.placed import COLUMNS, PLACED
from hbench.view.reading import Asked

KEY = ("spec", "arm", "family", "seed", "round", "slot", "step_key", "candidate")
CANDIDATES = f"""
with placed as (
  select distinct done.step_key, {COLUMNS}
  {PLACED}
  where done.step_key in (select step_key from candidates)
)
select
  l.* replace (coalesce(l.round, -1) as round, coalesce(l.slot, -1) as slot),
  c.candidate,
  c.outcome,
  c.harness_id,
  left(c.explanation, 300) as explanation
from placed as l
join candidates as c using (step_key)
"""
FILTERS = {
    "spec": Filter("l.spec = ?"),
    "arm": Filter("l.arm = ?"),
    "family": Filter("l.family = ?"),
    "purpose": Filter("l.purpose = ?"),
    "outcome": Filter("c.outcome = ?"),
    "round": Filter("l.round = ?", int),
    "step": Filter("starts_with(l.step_key, ?)"),
    "harness": Filter("starts_with(c.harness_id, ?)"),
    "parent": Filter("starts_with(c.parent_id, ?)"),
}


def candidates(request: Any) -> Any:
    """The list, as the address narrows it."""
    if request.app.state.reading.is_empty:
        return page(request, "candidates.html", shown=None)
    reading, asked = request.state.reading, request.query_params
    narrowed, values = where(asked, FILTERS)
    sql = CANDIDATES + ("where " + " and ".join(narrowed) if narrowed else "")
    found = shown(reading, Listing(sql, KEY, tuple(values)), asked)
    return page(
        request,
        "candidates.html",
        shown=found,
        scores=scores(reading, found.rows),
        choices=choices(reading, ("spec", "arm", "family", "outcome")),
        asked=asked,
    )


def scores(reading: Asked, rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], tuple[float | None, float | None]]:
    """Step and candidate -> mean scores on scoring and on evaluation questions; None where nothing was run."""
    keys = sorted({row["step_key"] for row in rows})
    found = reading.query(_SCORES, [keys, keys]).rows if keys else []
    return {(step_key, number): (score, held_out) for step_key, number, score, held_out in found}


# A proposal is run by steps that read it, a race under a number of its own; a trainer and a teacher run theirs themselves.
_SCORES = """
with tried as (
  select distinct
    mine.step_key,
    reader.step_key as ran_key,
    coalesce(races.candidate, 0) as ran_as,
    l.purpose
  from run_steps as mine
  join plan_edges as edge on edge.from_step_id = mine.step_id
  join run_steps as reader on reader.step_id = edge.step_id and reader.run_id = mine.run_id
  join plan_labels as l on l.spec_digest = edge.spec_digest and l.step_id = reader.step_id
  left join races on races.step_key = reader.step_key and races.slot = l.slot
  where edge.input in ('harness', 'harness_' || l.slot)
    and mine.step_key in (select unnest(?)) and l.purpose in ('candidate_scoring', 'held_out_candidate')
),

means as (
  select
    step_key,
    candidate,
    avg(score) as score
  from rollouts
  where step_key in (select ran_key from tried) or step_key in (select unnest(?))
  group by step_key, candidate
)
select
  tried.step_key,
  0 as candidate,
  max(means.score) filter (tried.purpose = 'candidate_scoring') as score,
  max(means.score) filter (tried.purpose = 'held_out_candidate') as held_out
from tried
join means on means.step_key = tried.ran_key and means.candidate = tried.ran_as
group by all
union all
select
  step_key,
  candidate,
  score,
  null as held_out
from means
where step_key not in (select ran_key from tried)
"""


def one(request: Any) -> Any:
    """One candidate."""
    reading, named = request.state.reading, request.path_params
    record = candidate(reading, named["step"], named["candidate"])
    address = candidate_address(named["step"], named["candidate"])
    return page(request, "candidate.html", record=record, address=address, **_neighbours(reading, record.row))


def _neighbours(reading: Asked, row: Mapping[str, Any]) -> dict[str, int | None]:
    """before, after: the numbers beside this one in its step."""
    sql = (
        "select max(candidate) filter (candidate < ?) as before, min(candidate) filter (candidate > ?) as after "
        "from candidates where step_key = ?"
    )
    return reading.rows(sql, [row["candidate"], row["candidate"], row["step_key"]])[0]


ROUTES = [("/candidates", candidates), ("/candidates/{step}/{candidate:int}", one)]
