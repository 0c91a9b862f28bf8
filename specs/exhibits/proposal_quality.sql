-- One row a spec, arm, family and seed: what its proposals are worth on the held-out questions.
-- A failed edit (it did not parse or apply) and an explicit no-change keep the parent's score; two further columns count
-- the failed ones as 0 or leave them out. A number that would need a run which was not made is null, never a guess.
with

labels as (
  select *
  from counted_steps
  where spec_digest in (select unnest($specs))
),

-- J(h; Q) of each evaluate step, by the grade that the spec names and by the exact one.
scored as (
  select
    step_key,
    avg(score) as score
  from rollouts
  where step_key in (select step_key from labels)
  group by all
),

exactly as (
  select
    step_key,
    avg(value) as exact
  from grades
  where name = 'exact'
    and step_key in (select step_key from labels where purpose like 'held_out%')
  group by all
),

-- Which questions the final harness was measured on: differences are taken only over equal ones.
asked as (
  select
    step_key,
    count(distinct question_id) as questions,
    md5(string_agg(distinct question_id, ' ' order by question_id)) as question_set
  from rollouts
  where step_key in (select step_key from labels where purpose = 'held_out')
  group by all
),

measured as (
  select
    l.*,
    s.score,
    e.exact,
    a.questions,
    a.question_set
  from labels as l
  left join scored as s
    using (step_key)
  left join exactly as e
    using (step_key)
  left join asked as a
    using (step_key)
),

arms as (
  select
    spec_digest,
    arm,
    family,
    seed,
    count(distinct round) filter (where purpose = 'propose') as rounds,
    max(score) filter (where purpose = 'held_out') as final_score,
    max(exact) filter (where purpose = 'held_out') as final_exact,
    max(questions) filter (where purpose = 'held_out') as questions,
    max(question_set) filter (where purpose = 'held_out') as question_set
  from measured
  group by all
),

-- A round's parent: its dev score, and its held-out score (round 0: the first harness).
parents as (
  select
    spec_digest,
    arm,
    family,
    seed,
    round,
    max(score) filter (where purpose = 'parent_scoring') as dev,
    max(score) filter (where purpose in ('held_out_seed', 'held_out_round')) as score,
    max(exact) filter (where purpose in ('held_out_seed', 'held_out_round')) as exact
  from (
    select * replace (if(purpose = 'held_out_seed', 0, round) as round)
    from measured
  )
  where round is not null
  group by all
),

trials as (
  select
    spec_digest,
    arm,
    family,
    seed,
    round,
    slot,
    max(score) filter (where purpose = 'candidate_scoring') as dev,
    max(score) filter (where purpose = 'held_out_candidate') as score,
    max(exact) filter (where purpose = 'held_out_candidate') as exact
  from measured
  where slot is not null
  group by all
),

-- One row a proposal. kept: what it is worth when it keeps the parent's score because it changes nothing.
proposals as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    c.harness_id is null and c.outcome <> 'no_change' as failed,
    if(c.harness_id is null, p.score, t.score) as kept_score,
    if(c.harness_id is null, p.exact, t.exact) as kept_exact,
    if(c.harness_id is null, p.dev, t.dev) as kept_dev
  from labels as l
  join candidates as c
    using (step_key)
  left join parents as p
    using (spec_digest, arm, family, seed, round)
  left join trials as t
    using (spec_digest, arm, family, seed, round, slot)
  where l.purpose = 'propose'
),

-- Means over an arm's proposals in one family. Null as soon as one proposal's score is not known.
pooled as (
  select
    spec_digest,
    arm,
    family,
    seed,
    count(*) as proposals,
    count(kept_score) as known,
    if(count(kept_score) = count(*), avg(kept_score), null) as score,
    if(count(kept_exact) = count(*), avg(kept_exact), null) as exact,
    if(count(kept_score) = count(*), avg(if(failed, 0, kept_score)), null) as failed_as_zero,
    if(count(kept_score) = count(*), avg(kept_score) filter (where not failed), null) as failed_left_out,
    if(count(kept_score) = count(*), max(kept_score), null) as oracle_best,
    avg(failed::integer) as failed_share,
    if(count(kept_dev) filter (where not failed) = count(*) filter (where not failed),
      avg((not failed and kept_dev = 0)::integer), null) as dev_zero_share
  from proposals
  group by all
),

-- A mean over the families (or seeds) whose proposals happen to be known would be one of the failures: without
-- evaluate_all only failed edits are. So an arm has these numbers for all of its units or for none.
known_arms as (
  select
    arm,
    bool_and(known = proposals) as whole
  from pooled
  group by all
)

select
  a.spec_digest,
  a.arm,
  a.family,
  a.seed,
  a.question_set,
  if(a.rounds = 1, if(k.whole, p.score, null), a.final_score) as score,
  if(a.rounds = 1, if(k.whole, p.exact, null), a.final_exact) as exact,
  if(a.rounds = 1 and k.whole, p.failed_as_zero, null) as failed_as_zero,
  if(a.rounds = 1 and k.whole, p.failed_left_out, null) as failed_left_out,
  if(k.whole, p.oracle_best, null) as oracle_best,
  if(a.rounds > 0, a.final_score, null) as selected,
  p.failed_share,
  p.dev_zero_share,
  p.proposals,
  a.questions
from arms as a
left join pooled as p
  using (spec_digest, arm, family, seed)
left join known_arms as k
  on k.arm = a.arm
order by
  a.arm,
  a.family,
  a.seed,
  a.spec_digest
