-- One row a spec, arm, domain, seed and question: the score of a held-out one, what became of a training one, and on both what
-- the reviewer did.
with

kept as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    k.question_id,
    sum(k.kept::integer) as kept
  from counted_steps as l
  join kept_trajectories as k
    using (step_key)
  where l.purpose = 'keep_trajectories'
    and l.spec_digest in (select unnest($specs))
  group by all
)

select
  s.spec_digest,
  if(s.purpose = 'collect', s.family || ', collected', s.family) as domain,
  s.family,
  s.arm,
  s.seed,
  u.unit as question,
  if(s.purpose = 'held_out', u.score, null) as score,
  if(s.purpose = 'collect', u.score, null) as collected,
  if(s.purpose = 'collect', coalesce(k.kept, 0), null) as kept,
  u.replaced,
  if(u.reviewed > 0, u.reviewed, null) as reviewed,
  u.first,
  u.last,
  u.turns,
  u.tasks,
  u.failures,
  u.completed
from acted_steps as s
join acted_units as u
  using (step_key)
left join kept as k
  on s.purpose = 'collect'
  and k.spec_digest = s.spec_digest
  and k.arm = s.arm
  and k.family = s.family
  and k.seed = s.seed
  and k.question_id = u.unit
where s.spec_digest in (select unnest($specs))
order by
  s.purpose = 'collect',
  s.family,
  s.arm,
  question,
  s.seed,
  s.spec_digest
