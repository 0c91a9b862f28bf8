"""SQL behind arm_scores.py, on `counted_steps`: $specs and $arms say which rows, $grade and $selected which score."""

_HELD = "l.spec_digest in (select unnest($specs)) and l.arm in (select unnest($arms))"

# A scenario is right when all its tasks are, and unknown where some were not asked.
SCORES = f"""
with

mine as materialized (
  select *
  from counted_steps as l
  where {_HELD}
),

graded as (
  select
    step_key,
    candidate,
    question_id,
    repeat,
    value as score
  from grades
  where name = $grade
  union all
  select
    step_key,
    candidate,
    question_id,
    repeat,
    score
  from rollouts
  where $grade is null
),

tried as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.slot,
    l.purpose,
    coalesce(q.meta ->> '$.scenario', r.question_id) as question,
    r.repeat,
    bool_or(q.meta ->> '$.scenario' is not null) as scenario,
    min_by(left(q.text, 200), q.question_id) as text,
    if(count(*) >= max(coalesce((q.meta ->> '$.scenario_size')::bigint, 1)), min(r.score), null) as score
  from mine as l
  join graded as r
    using (step_key)
  left join questions as q
    using (question_id)
  where l.purpose in ('held_out', 'held_out_seed', 'held_out_candidate')
  group by all
),

asked as materialized (
  select
    spec_digest,
    arm,
    family,
    seed,
    slot,
    purpose,
    question,
    bool_or(scenario) as scenario,
    any_value(text) as text,
    avg(score order by repeat) as score
  from tried
  group by all
),

shapes as (
  select
    spec_digest,
    arm,
    family,
    seed,
    count(distinct round) filter (where purpose = 'propose') as rounds,
    count(*) filter (where purpose = 'propose') as proposals,
    count(*) filter (where purpose = 'held_out_candidate') > 0 as measured
  from mine
  group by all
),

pooled as (
  select
    *,
    rounds = 1 and measured and not $selected as proposed
  from shapes
),

-- A failed edit and a no-change keep the score of the parent, which in the only round is the first harness.
proposals as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.slot,
    min(e.from_step_id) as prompt,
    if(any_value(c.harness_id) is null, 'held_out_seed', 'held_out_candidate') as purpose
  from mine as l
  join candidates as c
    using (step_key)
  left join plan_edges as e
    on e.spec_digest = l.spec_digest
    and e.step_id = l.step_id
    and e.input = 'report'
  where l.purpose = 'propose'
  group by all
),

-- Proposals of one prompt differ by chance alone: where there are several prompts, those are what was drawn.
draws as (
  select
    *,
    if(count(distinct prompt) over (partition by spec_digest, arm, family, seed) > 1, prompt, slot::varchar) as draw
  from proposals
),

drawn as (
  select
    p.spec_digest,
    p.arm,
    p.family,
    p.seed,
    p.draw,
    a.question,
    any_value(a.scenario) as scenario,
    any_value(a.text) as text,
    count(*) as proposals,
    avg(a.score order by p.slot) as score
  from draws as p
  join asked as a
    on a.spec_digest = p.spec_digest
    and a.arm = p.arm
    and a.family = p.family
    and a.seed = p.seed
    and a.purpose = p.purpose
    and (a.slot = p.slot or p.purpose = 'held_out_seed')
  group by all
),

worth as (
  select
    spec_digest,
    arm,
    family,
    seed,
    question,
    any_value(scenario) as scenario,
    any_value(text) as text,
    sum(proposals * score order by draw) / sum(proposals) as score,
    list(score order by draw) as draws
  from drawn
  group by all
)

select
  s.arm,
  s.rounds,
  if(s.proposed, s.proposals, null) as proposals,
  s.seed,
  s.family,
  coalesce((n.point ->> '$.chain')::bigint, 0) as chain,
  if(s.proposed, w.question, a.question) as question_id,
  if(s.proposed, w.score, a.score) as score,
  coalesce(if(s.proposed, w.draws, null), []) as draws,
  coalesce(if(s.proposed, w.scenario, a.scenario), false) as scenario,
  coalesce(if(s.proposed, w.text, a.text), '') as text
from pooled as s
left join specs as n
  using (spec_digest)
left join asked as a
  on not s.proposed
  and a.purpose = 'held_out'
  and a.spec_digest = s.spec_digest
  and a.arm = s.arm
  and a.family = s.family
  and a.seed = s.seed
left join worth as w
  on s.proposed
  and w.spec_digest = s.spec_digest
  and w.arm = s.arm
  and w.family = s.family
  and w.seed = s.seed
where if(s.proposed, w.score, a.score) is not null
order by
  s.arm,
  s.family,
  s.seed,
  chain,
  question_id
"""

RUNS = """
select
  spec_digest,
  limited
from counted_runs
where spec_digest in (select unnest($specs))
order by spec_digest
"""

TRAINED = f"""
select distinct
  l.arm
from counted_steps as l
join checkpoints as c
  using (step_key)
where {_HELD}
order by
  l.arm
"""

UNFINISHED = f"""
select distinct
  l.arm,
  l.family
from plan_labels as l
join counted_runs as n
  using (spec_digest)
where {_HELD}
  and not exists (
    select 1
    from counted_steps as c
    where c.spec_digest = l.spec_digest
      and c.arm = l.arm
      and c.family = l.family
      and c.seed = l.seed
  )
order by all
"""

GRADES = f"""
select distinct
  g.name
from counted_steps as l
join grades as g
  using (step_key)
where {_HELD}
  and l.purpose like 'held_out%'
order by
  g.name
"""
