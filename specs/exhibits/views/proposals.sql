-- Proposals and arms, one family each, with what they are worth on held-out questions.
-- A failed edit (it did not parse or apply) and an explicit no-change keep the parent's score. A number that would need
-- a run which was not made is null, never a guess. Sums of fractions have an order, else their last digits would change
-- from one reading to the next.

-- Means over the questions of each step that ran a harness. score: by the grade that the spec names. question_set: digest of
-- the questions' ids; many steps have one set, so each is written out and sorted once. A question has one repeat 0.
create or replace temporary table scored_steps as
with

wanted as (
  select distinct step_key
  from counted_steps
  where purpose like 'held_out%'
    or purpose in ('parent_scoring', 'candidate_scoring')
),

exactly as (
  select
    step_key,
    candidate,
    avg(value order by question_id, repeat) as exact
  from grades
  where name = 'exact'
    and step_key in (select step_key from wanted)
  group by all
),

means as (
  select
    step_key,
    candidate,
    avg(score order by question_id, repeat) as score,
    count(*) filter (where repeat = 0) as questions,
    bit_xor(hash(question_id)) filter (where repeat = 0) as mark
  from rollouts
  where failure is distinct from 'not_run'
    and step_key in (select step_key from wanted)
  group by all
),

sets as (
  select
    m.mark,
    md5(string_agg(r.question_id, ' ' order by r.question_id)) as question_set
  from (
    select
      mark,
      min((step_key, candidate)) as first
    from means
    group by mark
  ) as m
  join rollouts as r
    on r.step_key = m.first[1]
    and r.candidate = m.first[2]
    and r.repeat = 0
  where r.failure is distinct from 'not_run'
  group by m.mark
)

select
  m.step_key,
  m.candidate,
  m.score,
  e.exact,
  m.questions,
  s.question_set
from means as m
left join sets as s
  using (mark)
left join exactly as e
  using (step_key, candidate);

-- measured: whether its candidates are run on held-out questions (evaluate_all). Where they are not, only failed edits
-- would be known, and a mean would be one of the failures. wording: of a Reasoning Gym family, canonical or varied.
create or replace temporary table family_arms as
select
  l.spec_digest,
  l.arm,
  l.family,
  l.seed,
  count(distinct l.round) filter (where l.purpose = 'propose') as rounds,
  count(*) filter (where l.purpose = 'held_out_candidate') > 0 as measured,
  coalesce(max(t.params ->> '$.family.format'), '') as wording
from counted_steps as l
join steps as t
  using (step_key)
group by all
having count(*) filter (where l.purpose = 'held_out') > 0;

-- The harness after t rounds (0: the first one), which is the parent of round t. dev: its score on the questions on which
-- it was chosen, from round 1 on. In between the first and the last, held-out scores exist where evaluate_all is set.
create or replace temporary table arm_rounds as
with

chosen as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.round,
    s.parent_score,
    s.chosen_score,
    s.kept_parent
  from counted_steps as l
  join selections as s
    using (step_key)
  where l.purpose = 'select'
),

dev as (
  select
    spec_digest,
    arm,
    family,
    seed,
    0 as round,
    parent_score as dev,
    null::boolean as kept_parent
  from chosen
  where round = 0
  union all
  select
    spec_digest,
    arm,
    family,
    seed,
    round + 1,
    chosen_score,
    kept_parent
  from chosen
),

held_out as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    case l.purpose
      when 'held_out_seed' then 0
      when 'held_out_round' then l.round
      else a.rounds
    end as round,
    max(s.score) as score,
    max(s.exact) as exact,
    max(s.questions) as questions,
    max(s.question_set) as question_set
  from counted_steps as l
  join family_arms as a
    using (spec_digest, arm, family, seed)
  join scored_steps as s
    using (step_key, candidate)
  where l.purpose in ('held_out_seed', 'held_out_round', 'held_out')
  group by all
)

select
  spec_digest,
  arm,
  family,
  seed,
  round,
  a.rounds,
  a.wording,
  d.dev,
  d.kept_parent,
  h.score,
  h.exact,
  h.questions,
  h.question_set
from dev as d
full join held_out as h
  using (spec_digest, arm, family, seed, round)
join family_arms as a
  using (spec_digest, arm, family, seed);

-- One row a proposal. prompt: the report that it answers, by its step; proposals of one prompt differ by chance alone.
-- dev, score, exact: its own, or its parent's where it has none; on the scoring and on the held-out questions.
create or replace temporary table arm_proposals as
with

scored as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.round,
    l.slot,
    max(s.score) filter (where l.purpose = 'parent_scoring') as parent_dev,
    max(s.score) filter (where l.purpose = 'candidate_scoring') as dev,
    max(s.score) filter (where l.purpose = 'held_out_candidate') as score,
    max(s.exact) filter (where l.purpose = 'held_out_candidate') as exact
  from counted_steps as l
  join scored_steps as s
    using (step_key, candidate)
  where l.purpose in ('parent_scoring', 'candidate_scoring', 'held_out_candidate')
  group by all
),

reported as (
  select
    spec_digest,
    step_id,
    min(from_step_id) as prompt
  from plan_edges
  where input = 'report'
  group by all
)

select
  l.spec_digest,
  l.arm,
  l.family,
  l.seed,
  l.round,
  l.slot,
  l.step_key,
  coalesce(r.prompt, '') as prompt,
  c.parent_id,
  c.harness_id,
  c.outcome,
  c.parsed,
  c.applied,
  c.harness_id is null and c.outcome <> 'no_change' as failed,
  if(c.harness_id is null, p.parent_dev, t.dev) as dev,
  case when not a.measured then null when c.harness_id is null then h.score else t.score end as score,
  case when not a.measured then null when c.harness_id is null then h.exact else t.exact end as exact
from counted_steps as l
join family_arms as a
  using (spec_digest, arm, family, seed)
join candidates as c
  using (step_key)
left join reported as r
  using (spec_digest, step_id)
left join scored as t
  using (spec_digest, arm, family, seed, round, slot)
left join scored as p
  on p.spec_digest = l.spec_digest
  and p.arm = l.arm
  and p.family = l.family
  and p.seed = l.seed
  and p.round = l.round
  and p.slot is null
left join arm_rounds as h
  using (spec_digest, arm, family, seed, round)
where l.purpose = 'propose';

-- Means over all proposals of an arm, whatever their round. failed_or_zero: failed, or scores 0 on the scoring questions.
create or replace temporary table pooled_proposals as
with

by_prompt as (
  select
    spec_digest,
    arm,
    family,
    seed,
    avg(best order by round, prompt) as best_of_prompt
  from (
    select
      spec_digest,
      arm,
      family,
      seed,
      round,
      prompt,
      max(score) as best
    from arm_proposals
    group by all
  )
  group by all
)

select
  spec_digest,
  p.arm,
  p.family,
  p.seed,
  count(*) as proposals,
  count(distinct p.prompt) as prompts,
  if(count(p.score) = count(*), avg(p.score order by p.round, p.slot), null) as score,
  if(count(p.exact) = count(*), avg(p.exact order by p.round, p.slot), null) as exact,
  if(count(p.score) = count(*), avg(if(p.failed, 0, p.score) order by p.round, p.slot), null) as failed_as_zero,
  if(count(p.score) = count(*),
    avg(p.score order by p.round, p.slot) filter (where not p.failed), null) as failed_left_out,
  if(count(p.score) = count(*), max(p.score), null) as oracle_best,
  if(count(p.score) = count(*), any_value(b.best_of_prompt), null) as best_of_prompt,
  avg(p.parsed::integer) as parsed,
  avg(p.applied::integer) as applied,
  avg(p.failed::integer) as failed_share,
  if(count(p.dev) filter (where not p.failed) = count(*) filter (where not p.failed),
    avg((not p.failed and p.dev = 0)::integer), null) as dev_zero_share,
  if(count(p.dev) filter (where not p.failed) = count(*) filter (where not p.failed),
    avg((p.failed or p.dev = 0)::integer), null) as failed_or_zero
from arm_proposals as p
left join by_prompt as b
  using (spec_digest, arm, family, seed)
group by all;

-- One row an arm in one family. score: of one round, the mean over its proposals; of several, the final harness; of none,
-- its harness. selected: what the arm's rule chose on its scoring questions.
create or replace temporary table arm_scores as
select
  spec_digest,
  l.arm,
  l.family,
  l.seed,
  l.rounds,
  l.wording,
  l.question_set,
  if(l.rounds = 1, p.score, l.score) as score,
  if(l.rounds = 1, p.exact, l.exact) as exact,
  if(l.rounds = 1, p.failed_as_zero, null) as failed_as_zero,
  if(l.rounds = 1, p.failed_left_out, null) as failed_left_out,
  p.oracle_best,
  p.best_of_prompt,
  if(l.rounds > 0, l.score, null) as selected,
  p.parsed,
  p.applied,
  p.failed_share,
  p.dev_zero_share,
  p.failed_or_zero,
  p.proposals,
  p.prompts,
  l.questions
from arm_rounds as l
left join pooled_proposals as p
  using (spec_digest, arm, family, seed)
where l.round = l.rounds;
