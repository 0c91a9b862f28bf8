-- Chains: independent repeats of one experiment, told apart by the swept field `chain`.

-- Every counted step with its chain.
create or replace temporary table chain_steps as
select
  l.*,
  coalesce((s.point ->> '$.chain')::bigint, 0) as chain
from counted_steps as l
left join specs as s
  using (spec_digest);

-- Means over the questions of each step that ran a harness. score: by the grade that the spec names. Here and in what
-- follows sums of fractions have an order, else their last digits would change from one reading to the next.
create or replace temporary table chain_scores as
with

graded as (
  select
    step_key,
    candidate,
    avg(value order by question_id, repeat) filter (where name = 'em') as em,
    avg(value order by question_id, repeat) filter (where name = 'f1') as f1
  from grades
  where step_key in (select step_key from chain_steps)
  group by all
)

select
  r.step_key,
  r.candidate,
  avg(r.score order by r.question_id, r.repeat) as score,
  any_value(g.em) as em,
  any_value(g.f1) as f1,
  count(distinct r.question_id) as questions,
  md5(string_agg(distinct r.question_id, ' ' order by r.question_id)) as question_set
from rollouts as r
left join graded as g
  using (step_key, candidate)
where r.step_key in (select step_key from chain_steps)
  and r.failure is distinct from 'not_run'
group by r.step_key, r.candidate;

-- Arms whose candidates are measured on held-out questions: evaluate_all.
create or replace temporary table measured_arms as
select distinct
  spec_digest,
  arm,
  family,
  seed
from chain_steps
where purpose = 'held_out_candidate';

-- The harness after t rounds (0: the first one). dev: its score on the scoring questions on which it was chosen.
create or replace temporary table chain_rounds as
with

ends as (
  select
    spec_digest,
    arm,
    family,
    seed,
    count(distinct round) filter (where purpose = 'select') as rounds
  from chain_steps
  group by all
),

held_out as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.chain,
    case l.purpose
      when 'held_out_seed' then 0
      when 'held_out_round' then l.round
      else e.rounds
    end as round,
    max(l.step_key) as step_key
  from chain_steps as l
  join ends as e
    using (spec_digest, arm, family, seed)
  where l.purpose in ('held_out_seed', 'held_out_round', 'held_out')
  group by all
),

chosen as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.chain,
    l.round + 1 as round,
    s.chosen_score as dev,
    s.chosen_id as harness_id
  from chain_steps as l
  join selections as s
    using (step_key)
  where l.purpose = 'select'
  union all
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.chain,
    0,
    s.parent_score,
    s.parent_id
  from chain_steps as l
  join selections as s
    using (step_key)
  where l.purpose = 'select'
    and l.round = 0
)

select
  spec_digest,
  arm,
  family,
  seed,
  chain,
  round,
  e.rounds,
  c.dev,
  coalesce(c.harness_id, ran.harness_id) as harness_id,
  h.step_key,
  s.em,
  s.f1,
  s.questions,
  s.question_set
from chosen as c
full join held_out as h
  using (spec_digest, arm, family, seed, chain, round)
join ends as e
  using (spec_digest, arm, family, seed)
left join chain_scores as s
  on s.step_key = h.step_key
left join (
  select
    step_key,
    any_value(harness_id) as harness_id
  from rollouts
  where step_key in (select step_key from chain_steps)
  group by step_key
) as ran
  on ran.step_key = h.step_key;

-- Every proposal with what it is worth on held-out questions: a failed edit and a no-change keep the parent's score.
-- dev: its score on the scoring questions, null where nothing was run. em and f1 are null in arms that are not measured:
-- there only failed edits would be known, and a mean over chains would be one of the failures.
create or replace temporary table chain_proposals as
with

trials as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.round,
    l.slot,
    max(s.score) filter (where l.purpose = 'candidate_scoring') as dev,
    max(s.em) filter (where l.purpose = 'held_out_candidate') as em,
    max(s.f1) filter (where l.purpose = 'held_out_candidate') as f1
  from chain_steps as l
  join chain_scores as s
    using (step_key, candidate)
  where l.purpose in ('candidate_scoring', 'held_out_candidate')
  group by all
)

select
  l.spec_digest,
  l.arm,
  l.family,
  l.seed,
  l.chain,
  l.round,
  l.slot,
  c.harness_id,
  c.harness_id is null and c.outcome <> 'no_change' as failed,
  t.dev,
  case when m.arm is null then null when c.harness_id is null then p.em else t.em end as em,
  case when m.arm is null then null when c.harness_id is null then p.f1 else t.f1 end as f1
from chain_steps as l
join candidates as c
  using (step_key)
left join trials as t
  using (spec_digest, arm, family, seed, round, slot)
left join chain_rounds as p
  using (spec_digest, arm, family, seed, chain, round)
left join measured_arms as m
  using (spec_digest, arm, family, seed)
where l.purpose = 'propose';
