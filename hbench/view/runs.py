"""Runs: the newest ones; one with its arms, how far it is and what failed; its steps."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hbench.view.page import NotFound, page
from hbench.view.paging import Listing, shown
from hbench.view.reading import Asked
from hbench.view.run_state import STATES, RunState, states, under_way

READY_SHOWN, FAILED_SHOWN = 12, 20


def runs(request: Any) -> Any:
    """The newest runs, of one spec where the address names it."""
    place, reading, asked = request.app.state.reading, request.state.reading, request.query_params
    if place.is_empty:
        return page(request, "runs.html", found=None, runs=[], named="")
    named = asked.get("spec", "")
    sql = STATES + ("where contains(lower(s.name), lower(?))" if named else "")
    found = shown(reading, Listing(sql, ("run_id",), (named,) if named else (), newest_first=True), asked)
    return page(request, "runs.html", found=found, runs=states(reading, found.rows, place.folder), named=named)


def run(request: Any) -> Any:
    """One run: how far it is, its arms with their scores, what failed."""
    reading, state = request.state.reading, state_of(request)
    mine = [state.run_id, state.spec_digest]
    values: dict[str, Any] = {"about": reading.rows(ABOUT, mine[:1])[0], "arms": arms(reading, state)}
    values["ready"] = reading.rows(READY, [*mine, READY_SHOWN]) if state.is_going_on else []
    values["under_way"] = under_way(request.app.state.reading.folder) if state.is_going_on else []
    values["failed"] = reading.rows(FAILED, [*mine, FAILED_SHOWN]) if state.counts["failed"] or state.counts["spent"] else []
    return page(request, "run.html", state=state, trained=reading.rows(TRAINED, mine), **values)


def state_of(request: Any) -> RunState:
    """The run that the address names. Raises NotFound."""
    run_id, folder = request.path_params["run_id"], request.app.state.reading.folder
    rows = request.state.reading.rows(f"{STATES} where r.run_id = ?", [run_id])
    if not rows:
        raise NotFound(f"no run {run_id} in {folder}")
    return states(request.state.reading, rows, folder)[0]


@dataclass
class Arm:
    """One arm, under one seed. families: family -> its row of ARMS."""

    name: str
    seed: int
    families: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def mean(self, which: str) -> float | None:
        """Of the families that have it. which: first or last."""
        known = [scores[which] for scores in self.families.values() if scores[which] is not None]
        return sum(known) / len(known) if known else None

    @property
    def rounds(self) -> int:
        return max(scores["rounds"] for scores in self.families.values())

    @property
    def replaced(self) -> float | None:
        """The share of turns in which a reviewer replaced the proposal; None without a review."""
        return next((scores["replaced"] for scores in self.families.values() if scores["replaced"] is not None), None)


def arms(reading: Asked, state: RunState) -> list[Arm]:
    """The arms in the order of their names, each with its families' held-out scores: its first harness's and its last's."""
    found: dict[tuple[str, int], Arm] = {}
    for row in reading.rows(ARMS, [state.run_id, state.spec_digest]):
        arm = found.setdefault((row["arm"], row["seed"]), Arm(row["arm"], row["seed"]))
        arm.families[row["family"]] = row
    return list(found.values())


def run_steps(request: Any) -> Any:
    """The steps of a run by what they are for."""
    reading, asked, state = request.state.reading, request.query_params, state_of(request)
    chosen = {name: asked.get(name, "") for name in ("arm", "family", "purpose", "status")}
    wanted = {name: value for name, value in chosen.items() if value}
    sql = f"select * from ({STEPS})" + (" where " + " and ".join(f'"{name}" = ?' for name in wanted) if wanted else "")
    key = ("arm", "family", "seed", "at_round", "at_slot", "purpose", "step_id")
    found = shown(reading, Listing(sql, key, (state.run_id, state.spec_digest, *wanted.values())), asked, 100)
    return page(request, "run_steps.html", state=state, found=found, chosen=chosen, choices=_choices(reading, state))


def _choices(reading: Asked, state: RunState) -> dict[str, list[str]]:
    choices: dict[str, list[str]] = defaultdict(list)
    for name, value in reading.query(CHOICES, [state.spec_digest]).rows:
        choices[name].append(value)
    return {**choices, "status": ["ran", "cached", "failed", "spent", "skipped", "waiting"]}


ABOUT = """
select
  s.text,
  s.file,
  s.point,
  r.git_commit,
  r.versions,
  r.machine
from runs as r
left join specs as s using (spec_digest)
where r.run_id = ?
"""

# What may run now: every step it reads has ended well, and it has not ended itself.
READY = """
with ended as (
  select step_id, status from run_steps where run_id = ?
)
select
  p.kind,
  (select min(l.arm || ': ' || l.label) from plan_labels as l where l.spec_digest = p.spec_digest and l.step_id = p.step_id) as label
from plan_steps as p
anti join ended using (step_id)
where
  p.spec_digest = ?
  and not exists (
    select 1
    from plan_edges as e
    left join ended on ended.step_id = e.from_step_id
    where e.spec_digest = p.spec_digest and e.step_id = p.step_id and coalesce(ended.status not in ('ran', 'cached'), true)
  )
order by 2
limit ?
"""

FAILED = """
select
  s.step_key,
  any_value(p.kind) as kind,
  min(l.arm || ': ' || l.label) as label,
  any_value(s.error) as error
from run_steps as s
join plan_steps as p on p.step_id = s.step_id
left join plan_labels as l on l.spec_digest = p.spec_digest and l.step_id = s.step_id
where s.run_id = ? and p.spec_digest = ? and s.status in ('failed', 'spent')
group by s.step_id, s.step_key
order by label
limit ?
"""

ARMS = """
with done as (
  select
    l.arm,
    l.family,
    l.seed,
    l.purpose,
    s.step_key
  from plan_labels as l
  join run_steps as s on s.run_id = ? and s.step_id = l.step_id
  where l.spec_digest = ? and l.purpose in ('held_out', 'held_out_seed', 'select', 'evolve')
),

scores as (
  select
    step_key,
    avg(score) as score,
    count(distinct question_id) as questions
  from rollouts
  where candidate = 0 and step_key in (select step_key from done where purpose like 'held_out%')
  group by step_key
),

reviews as (
  select
    step_key,
    sum(replaced) / nullif(sum(turns), 0) as replaced
  from trajectories
  where step_key in (select step_key from done where purpose = 'held_out')
  group by step_key
)

select
  d.arm,
  d.family,
  d.seed,
  max(s.score) filter (d.purpose = 'held_out_seed') as first,
  max(s.score) filter (d.purpose = 'held_out') as last,
  max(s.questions) as questions,
  max(v.replaced) as replaced,
  max(d.step_key) filter (d.purpose = 'held_out') as step_key,
  count(*) filter (d.purpose in ('select', 'evolve')) as rounds
from done as d
left join scores as s using (step_key)
left join reviews as v using (step_key)
group by d.arm, d.family, d.seed
order by d.arm, d.seed, d.family
"""

TRAINED = """
select
  s.step_key,
  p.kind,
  string_agg(distinct l.arm, ', ' order by l.arm) as arms,
  min(l.label) as label,
  any_value(s.status) as status
from plan_steps as p
join plan_labels as l using (spec_digest, step_id)
join run_steps as s using (step_id)
where s.run_id = ? and p.spec_digest = ? and p.kind like 'train_%' and s.step_key is not null
group by s.step_key, p.kind
order by arms, label
"""

STEPS = """
select
  l.arm,
  l.family,
  l.seed,
  coalesce(l.round, -1) as at_round,
  coalesce(l.slot, -1) as at_slot,
  l.purpose,
  l.step_id,
  l.label,
  p.kind,
  coalesce(s.status, 'waiting') as status,
  s.seconds,
  s.step_key
from plan_labels as l
join plan_steps as p using (spec_digest, step_id)
left join run_steps as s on s.run_id = ? and s.step_id = l.step_id
where l.spec_digest = ?
"""

CHOICES = """
select distinct
  unnest(['arm', 'family', 'purpose']) as name,
  unnest([arm, family, purpose]) as value
from plan_labels
where spec_digest = ?
order by all
"""

ROUTES = [("/runs", runs), ("/runs/{run_id}", run), ("/runs/{run_id}/steps", run_steps)]
