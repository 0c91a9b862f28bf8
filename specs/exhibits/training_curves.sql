-- One row a spec, arm and stretch of updates: what its trainer logged, as means over the stretch (at most 40 of them).
-- A trained model that several arms use stands under the one that trains least besides it, by name among equals: SFT under
-- the arm that is only SFT. Segments of multistep RL follow one another.
with

trained as (
  select distinct
    spec_digest,
    arm,
    seed,
    if(purpose = 'train_sft', 'sft', 'rl') as stage,
    coalesce(round, 0) as segment,
    step_key
  from counted_steps
  where purpose in ('train_sft', 'train_grpo')
    and spec_digest in (select unnest($specs))
),

own as (
  select *
  from (
    select
      *,
      count(*) over (partition by spec_digest, arm, seed) as steps
    from trained
  )
  qualify row_number() over (partition by spec_digest, seed, step_key order by steps, arm) = 1
),

placed as (
  select
    *,
    coalesce(sum(updates) over (
        partition by spec_digest, arm, seed, stage order by segment
        rows between unbounded preceding and 1 preceding
      ), 0) as before,
    sum(updates) over (partition by spec_digest, arm, seed, stage) as total
  from own
  join (
    select
      step_key,
      max(update) as updates
    from updates
    group by step_key
  )
    using (step_key)
),

logged as (
  select
    p.spec_digest,
    p.arm,
    p.seed,
    p.stage,
    least(p.total, ceil((p.before + u.update) / ceil(p.total / 40)) * ceil(p.total / 40))::bigint as update,
    u.name,
    avg(u.value order by p.before + u.update) as value
  from placed as p
  join updates as u
    using (step_key)
  group by all
)

select
  spec_digest,
  '' as family,
  seed,
  stage,
  arm,
  update,
  max(value) filter (where name = 'loss') as loss,
  max(value) filter (where name = 'reward') as reward,
  max(value) filter (where name = 'task_score') as task_score,
  max(value) filter (where name = 'parsed') as parsed,
  max(value) filter (where name = 'applied') as applied,
  max(value) filter (where name = 'completed') as completed,
  max(value) filter (where name = 'failed_share') as failed_share,
  max(value) filter (where name = 'reward_std') as reward_std,
  max(value) filter (where name = 'groups_without_signal') as groups_without_signal,
  max(value) filter (where name = 'entropy') as entropy,
  max(value) filter (where name = 'completion_tokens') as completion_tokens,
  max(value) filter (where name = 'clipped_share') as clipped_share,
  max(value) filter (where name = 'grad_norm') as grad_norm,
  max(value) filter (where name = 'reward_share') as reward_share
from logged
group by all
order by
  stage desc,
  arm,
  update,
  seed,
  spec_digest
