-- One row a spec, arm, family and seed: what its proposals are worth on held-out questions, what reward they would earn,
-- and what they are.
with

-- What sft is rewarded by: an arm trained on other weights would else be compared on another scale.
weights as (
  select
    l.spec_digest,
    t.term,
    max(t.weight) as weight
  from counted_steps as l
  join reward_terms as t
    using (step_key)
  where l.purpose = 'reward'
    and l.arm = 'sft'
    and l.spec_digest in (select unnest($specs))
  group by all
),

-- Rewards are of the scoring questions, as in training.
rewarded as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.round,
    l.slot,
    sum(w.weight * t.value order by t.term) as reward,
    max(t.value) filter (where t.term = 'completed') as completed
  from counted_steps as l
  join reward_terms as t
    using (step_key)
  left join weights as w
    on w.spec_digest = l.spec_digest
    and w.term = t.term
  where l.purpose = 'reward'
    and l.spec_digest in (select unnest($specs))
  group by all
),

forms as materialized (
  select *
  from training_forms($specs)
),

edits as materialized (
  select
    parent_id,
    harness_id,
    edit_flow(before, after) as edit,
    same_form(after) as form
  from proposed_edits($specs)
),

read as (
  select
    p.*,
    r.reward,
    r.completed,
    e.edit,
    e.form
  from arm_proposals as p
  left join edits as e
    using (parent_id, harness_id)
  left join rewarded as r
    using (spec_digest, arm, family, seed, round, slot)
  where p.spec_digest in (select unnest($specs))
),

marked as (
  select
    *,
    form is not null and exists (
      select *
      from forms
      where forms.spec_digest = read.spec_digest
        and forms.form = read.form
        and coalesce(forms.arm, read.arm) = read.arm
    ) as copied
  from read
),

pooled as (
  select
    spec_digest,
    arm,
    family,
    seed,
    avg(reward order by round, slot) as reward,
    avg(completed order by round, slot) as completed,
    avg(copied::integer) as copied,
    if(count(score) = count(*), avg(score order by round, slot) filter (where not copied), null) as uncopied,
    avg(coalesce((edit ->> '$.bare')::boolean, false)::integer) as bare,
    avg(coalesce((edit ->> '$.hard_coded')::boolean, false)::integer) as hard_coded,
    avg((not failed and completed = 1 and dev = 0)::integer) as idle
  from marked
  group by all
)

select
  spec_digest,
  coalesce(n.name, '') as study,
  s.arm,
  s.family,
  s.seed,
  s.question_set,
  s.score,
  s.best_of_prompt as best,
  p.reward,
  s.parsed,
  s.applied,
  p.completed,
  s.failed_or_zero,
  p.copied,
  p.uncopied,
  p.bare,
  p.hard_coded,
  p.idle,
  s.prompts,
  s.proposals
from arm_scores as s
left join pooled as p
  using (spec_digest, arm, family, seed)
left join specs as n
  using (spec_digest)
where spec_digest in (select unnest($specs))
order by
  study,
  s.arm,
  s.family,
  s.seed,
  spec_digest
