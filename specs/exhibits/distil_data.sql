-- One row a spec, arm, domain, seed and question: whether it trains or is held out, and what its rollouts gave to training.
with

asked as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.purpose = 'split_training' as trains,
    q.question_id
  from counted_steps as l
  join split_questions as q
    using (step_key)
  where l.purpose in ('split_training', 'split_evaluation')
    and l.spec_digest in (select unnest($specs))
),

reviewed as (
  select
    step_key,
    question_id,
    repeat,
    count(*) as turns,
    count(*) filter (where verdict = 'replace') as replaced
  from turns
  where step_key in (select step_key from counted_steps where purpose = 'collect')
  group by all
),

-- What the last step that looked at a rollout said of it. Only rollouts that were kept are made into rows.
judged as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    k.question_id,
    k.repeat,
    bool_or(k.kept) filter (where l.purpose = 'keep_trajectories') as kept,
    bool_or(k.kept) filter (where l.purpose = 'trajectory_rows') as trained,
    sum(k.tokens_trained) filter (where l.purpose = 'trajectory_rows') as tokens
  from counted_steps as l
  join kept_trajectories as k
    using (step_key)
  where l.purpose in ('keep_trajectories', 'trajectory_rows')
    and l.spec_digest in (select unnest($specs))
  group by all
),

collected as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    r.question_id,
    count(*) as collected,
    count(*) filter (where j.kept) as kept,
    count(*) filter (where j.trained) as trained,
    sum(v.turns) filter (where j.kept) as turns,
    100 * sum(v.replaced) filter (where j.kept) as replaced,
    sum(j.tokens) filter (where j.trained) as tokens
  from counted_steps as l
  join rollouts as r
    using (step_key)
  left join judged as j
    using (spec_digest, arm, family, seed, question_id, repeat)
  left join reviewed as v
    using (step_key, question_id, repeat)
  where l.purpose = 'collect'
    and l.spec_digest in (select unnest($specs))
  group by all
)

select
  a.spec_digest,
  a.arm,
  a.family,
  a.seed,
  a.question_id as question,
  if(a.trains, 1, null) as training,
  if(a.trains, null, 1) as evaluation,
  if(a.trains, null, 1.0 / coalesce((q.meta ->> '$.scenario_size')::bigint, 1)) as scenarios,
  c.collected,
  c.kept,
  c.trained,
  c.turns,
  c.replaced,
  c.tokens
from asked as a
left join questions as q
  using (question_id)
left join collected as c
  on a.trains
  and c.spec_digest = a.spec_digest
  and c.arm = a.arm
  and c.family = a.family
  and c.seed = a.seed
  and c.question_id = a.question_id
order by
  a.family,
  a.arm,
  question,
  a.seed,
  a.spec_digest
