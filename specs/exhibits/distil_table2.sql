-- One row a spec, arm, domain, seed and question (AppWorld: scenario): its score, in per cent, in the domain's own column.
with

measured as (
  select
    s.spec_digest,
    s.arm,
    s.family,
    s.seed,
    s.domain,
    u.unit as question,
    100 * u.score as score,
    100 * u.solved as solved,
    u.tasks
  from acted_steps as s
  join acted_units as u
    using (step_key)
  where s.purpose = 'held_out'
    and s.domain in ('spreadsheet', 'appworld', 'uspto')
    and s.spec_digest in (select unnest($specs))
)

select
  spec_digest,
  arm,
  family,
  seed,
  domain,
  question,
  score as question_score,
  if(domain = 'spreadsheet', score, null) as spreadsheet,
  if(domain = 'appworld', score, null) as appworld,
  if(domain = 'appworld', solved, null) as appworld_solved,
  if(domain = 'appworld', tasks, null) as appworld_tasks,
  if(domain = 'uspto', score, null) as uspto,
  -- A macro average over fewer domains would be another number.
  if(count(distinct if(score is null, null, domain)) over (partition by arm) = 3, score, null) as macro
from measured
order by
  arm,
  domain,
  question,
  seed,
  spec_digest
