-- The programs that training showed or rewarded, each once, told apart by same_form: layout, comments and names of local
-- variables make no difference.

-- arm: null for the kept demonstrations of a spec, which all its arms are held against; else whose RL made it.
create or replace temporary macro training_forms(specs) as table
with

labels as (
  select distinct
    spec_digest,
    arm,
    purpose,
    step_key
  from counted_steps
  where purpose in ('demonstrate', 'keep', 'train_grpo')
    and spec_digest in (select unnest(specs))
),

kept as (
  select
    l.spec_digest,
    l.arm,
    unnest(from_json(s.value -> '$.kept', '[{"candidate": "bigint"}]')).candidate as candidate
  from labels as l
  join steps as s
    using (step_key)
  where l.purpose = 'keep'
),

made as (
  select distinct
    k.spec_digest,
    null::varchar as arm,
    c.harness_id
  from kept as k
  join labels as l
    using (spec_digest, arm)
  join candidates as c
    on c.step_key = l.step_key
    and c.candidate = k.candidate
  where l.purpose = 'demonstrate'
  union
  select distinct
    l.spec_digest,
    l.arm,
    c.harness_id
  from labels as l
  join candidates as c
    using (step_key)
  where l.purpose = 'train_grpo'
)

select distinct
  m.spec_digest,
  m.arm,
  f.form
from made as m
join (
  select
    harness_id,
    same_form(text) as form
  from harnesses
  where path = 'harness.py'
    and harness_id in (select harness_id from made)
) as f
  using (harness_id)
where f.form is not null;
