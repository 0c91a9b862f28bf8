-- One row a spec, model, arm, domain, seed and question (AppWorld: scenario): its score, in per cent, in the domain's own
-- column. Rows of both models together stand beside: the mean over their cells.
with

measured as (
  select
    s.spec_digest,
    s.student as model,
    s.arm,
    s.family,
    s.seed,
    s.domain,
    s.student || ' ' || s.domain as cell,
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
),

placed as (
  select
    *,
    count(distinct if(score is null, null, domain)) over (partition by model, arm) = 3 as complete
  from measured
),

rows as (
  select *
  from placed
  union all by name
  select * replace ('all models' as model)
  from placed
  where arm in (
      select arm
      from placed
      group by arm
      having count(distinct model) > 1
        and bool_and(complete)
    )
)

select
  spec_digest,
  model,
  arm,
  family,
  seed,
  cell,
  -- A scenario or a question is another one under another model: that is what the mean is over.
  if(model = 'all models', cell || ' ' || question, question) as question,
  score as question_score,
  if(domain = 'spreadsheet' and model <> 'all models', score, null) as spreadsheet,
  if(domain = 'appworld' and model <> 'all models', score, null) as appworld,
  if(domain = 'appworld' and model <> 'all models', solved, null) as appworld_solved,
  if(domain = 'appworld' and model <> 'all models', tasks, null) as appworld_tasks,
  if(domain = 'uspto' and model <> 'all models', score, null) as uspto,
  -- A macro average over fewer domains would be another number.
  if(complete, score, null) as macro
from rows
order by
  model = 'all models',
  model,
  arm,
  cell,
  question,
  seed,
  spec_digest
