-- One row a spec, arm, domain, seed and question: of training questions, what became of their trajectories; of held-out ones,
-- the score of the student that was trained on them. Scores in per cent. AppWorld: scenarios.
with

kept as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    coalesce(q.meta ->> '$.scenario', k.question_id) as unit,
    sum(k.kept::integer) as kept
  from counted_steps as l
  join kept_trajectories as k
    using (step_key)
  left join questions as q
    using (question_id)
  where l.purpose = 'keep_trajectories'
    and l.spec_digest in (select unnest($specs))
  group by all
)

select
  s.spec_digest,
  s.family,
  s.arm,
  s.seed,
  u.unit as question,
  if(s.purpose = 'collect', 100 * u.solved, null) as collected,
  if(s.purpose = 'collect', u.tasks, null) as collected_tasks,
  if(s.purpose = 'collect', coalesce(k.kept, 0), null) as kept,
  if(s.purpose = 'held_out', 100 * u.score, null) as score,
  if(s.purpose = 'held_out', 100 * u.unknown_tools, null) as unknown_tools,
  if(s.purpose = 'held_out', u.turns, null) as turns
from acted_steps as s
join acted_units as u
  using (step_key)
left join kept as k
  on s.purpose = 'collect'
  and k.spec_digest = s.spec_digest
  and k.arm = s.arm
  and k.family = s.family
  and k.seed = s.seed
  and k.unit = u.unit
where s.spec_digest in (select unnest($specs))
order by
  s.family,
  s.arm,
  question,
  s.seed,
  s.spec_digest
