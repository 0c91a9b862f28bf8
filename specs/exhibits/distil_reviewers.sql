-- One row a spec, arm, domain, seed and question: what its reviewer did on its turns. AppWorld: scenarios. Shares in per cent.
select
  s.spec_digest,
  s.family,
  s.student,
  s.reviewer,
  s.arm,
  s.seed,
  u.unit as question,
  100 * u.score as score,
  if(s.reviewer = 'none', null, 100 * u.replaced) as replaced,
  if(s.reviewer = 'none', null, u.reviewed) as reviewed,
  100 * u.first as first,
  100 * u.last as last,
  if(s.reviewer = 'none', null, u.tries) as tries,
  if(s.reviewer = 'none', null, u.asked) as asked,
  if(s.reviewer = 'none', null, 100 * u.troubles) as troubles,
  if(s.reviewer = 'none', null, 100 * u.past_budget) as past_budget,
  u.turns,
  u.tasks
from acted_steps as s
join acted_units as u
  using (step_key)
where s.purpose = 'held_out'
  and s.spec_digest in (select unnest($specs))
order by
  s.student,
  s.reviewer,
  s.arm,
  s.family,
  question,
  s.seed,
  s.spec_digest
