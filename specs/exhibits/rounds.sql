-- One row a spec, arm, family, seed and round: the harness after that many rounds (0: the first one), its score on the
-- questions that chose it beside its held-out score. In between, the held-out score exists where evaluate_all is set.
with

labels as (
  select *
  from counted_steps
  where spec_digest in (select unnest($specs))
),

scored as (
  select
    step_key,
    avg(score) as score,
    count(distinct question_id) as questions,
    md5(string_agg(distinct question_id, ' ' order by question_id)) as question_set
  from rollouts
  where step_key in (select step_key from labels where purpose in ('held_out_seed', 'held_out_round', 'held_out'))
  group by all
),

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
  from labels as l
  join selections as s
    using (step_key)
  where l.purpose = 'select'
),

arms as (
  select
    spec_digest,
    arm,
    family,
    seed,
    count(distinct round) filter (where purpose = 'select') as rounds
  from labels
  group by all
),

dev as (
  select
    spec_digest,
    arm,
    family,
    seed,
    0 as round,
    parent_score as score,
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

-- The harness after round t is the parent of round t; held_out measures the last one. An arm without rounds has one.
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
    max(s.questions) as questions,
    max(s.question_set) as question_set
  from labels as l
  join arms as a
    using (spec_digest, arm, family, seed)
  join scored as s
    using (step_key)
  where l.purpose in ('held_out_seed', 'held_out_round', 'held_out')
  group by all
)

select
  spec_digest,
  arm,
  family,
  seed,
  round,
  h.question_set,
  d.score as dev,
  h.score as held_out,
  d.score - h.score as gap,
  d.kept_parent::integer as kept_parent,
  h.questions
from dev as d
full join held_out as h
  using (spec_digest, arm, family, seed, round)
order by
  arm,
  round,
  family,
  seed,
  spec_digest
