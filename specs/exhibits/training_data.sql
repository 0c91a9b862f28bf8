-- One row a spec, arm, family and seed: the edit contexts that its own training step reads, and what was drawn on them.
with

-- The last stage of each arm (train_grpo, by its name before train_sft). SFT reads its contexts by way of the demonstrations that were kept.
trained as (
  select
    spec_digest,
    arm,
    seed,
    run_id,
    step_id,
    step_key,
    purpose
  from counted_steps
  where purpose in ('train_sft', 'train_grpo')
    and spec_digest in (select unnest($specs))
  qualify purpose = min(purpose) over (partition by spec_digest, arm, seed)
),

kept as (
  select distinct
    t.spec_digest,
    t.arm,
    t.seed,
    k.from_step_id as step_id,
    s.step_key,
    s.run_id
  from trained as t
  join plan_edges as r
    on r.spec_digest = t.spec_digest
    and r.step_id = t.step_id
    and r.input = 'rows'
  join plan_edges as k
    on k.spec_digest = t.spec_digest
    and k.step_id = r.from_step_id
    and k.input = 'keep'
  join run_steps as s
    on s.run_id = t.run_id
    and s.step_id = k.from_step_id
),

-- from_step_id: the step that reads the contexts.
reads as (
  select
    spec_digest,
    arm,
    seed,
    run_id,
    step_id,
    step_key
  from trained
  where purpose = 'train_grpo'
  union all
  select
    spec_digest,
    arm,
    seed,
    run_id,
    step_id,
    step_key
  from kept
),

contexts as (
  select
    r.spec_digest,
    r.arm,
    r.seed,
    r.step_key,
    c.position,
    c.family
  from reads as r
  join plan_edges as e
    on e.spec_digest = r.spec_digest
    and e.step_id = r.step_id
    and e.input = 'contexts'
  join run_steps as s
    on s.run_id = r.run_id
    and s.step_id = e.from_step_id
  join edit_contexts as c
    on c.step_key = s.step_key
),

demonstrations as (
  select
    step_key,
    unnest(from_json(value -> '$.kept', '[{"context": "bigint"}]')).context as position
  from steps
  where step_key in (select step_key from kept)
),

-- Arms may share a step: each of its demonstrations counts once.
shown as (
  select distinct
    k.step_key,
    d.step_key as shown_key
  from kept as k
  join plan_edges as e
    on e.spec_digest = k.spec_digest
    and e.step_id = k.step_id
    and e.input = 'demonstrations'
  join run_steps as d
    on d.run_id = k.run_id
    and d.step_id = e.from_step_id
),

asked as (
  select
    k.step_key,
    unnest(from_json(s.value -> '$.demonstrations', '[{"context": "bigint"}]')).context as position
  from shown as k
  join steps as s
    on s.step_key = k.shown_key
),

counts as (
  select
    step_key,
    position,
    sum(kept) as kept,
    sum(asked) as asked,
    sum(completions) as completions,
    sum(rewarded) as rewarded
  from (
    select
      step_key,
      position,
      count(*) as kept
    from demonstrations
    group by all
    union all by name
    select
      step_key,
      position,
      count(*) as asked
    from asked
    group by all
    union all by name
    select
      step_key,
      context as position,
      count(*) as completions,
      count(reward) as rewarded
    from completions
    where step_key in (select step_key from reads)
    group by all
  )
  group by all
)

select
  spec_digest,
  arm,
  family,
  seed,
  count(*) as contexts,
  sum(n.asked)::bigint as asked,
  if(sum(n.asked) is null, null, coalesce(sum(n.kept), 0))::bigint as kept,
  sum(n.completions)::bigint as completions,
  100 * (1 - sum(n.rewarded) / sum(n.completions)) as no_signal
from contexts as c
left join counts as n
  using (step_key, position)
group by all
order by
  arm,
  family,
  seed,
  spec_digest
