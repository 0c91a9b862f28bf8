-- One row a spec, arm, family, seed and margin: the cheapest harness that scores at most so much less than the best, of
-- all that were run on the scoring questions of the arm's last round. Sums of fractions have an order, else their last
-- digits would change from one reading to the next.
with

ran as materialized (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.purpose,
    l.round,
    r.harness_id,
    avg(r.score order by r.question_id, r.repeat) as score,
    sum(r.prompt_tokens + r.completion_tokens) / count(*) as tokens,
    count(distinct r.question_id) as questions,
    md5(string_agg(distinct r.question_id, ' ' order by r.question_id)) as question_set
  from counted_steps as l
  join rollouts as r
    using (step_key, candidate)
  where l.spec_digest in (select unnest($specs))
    and r.failure is distinct from 'not_run'
    and l.purpose in (
      'parent_scoring', 'candidate_scoring', 'held_out_seed', 'held_out_round', 'held_out_candidate', 'held_out'
    )
  group by
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.purpose,
    l.round,
    l.slot,
    l.step_key,
    r.harness_id
),

asked as (
  select
    spec_digest,
    arm,
    family,
    seed,
    question_set,
    questions
  from ran
  where purpose = 'parent_scoring'
  qualify row_number() over (partition by spec_digest, arm, family, seed order by round desc) = 1
),

held_out as (
  select
    spec_digest,
    arm,
    family,
    seed,
    harness_id,
    max(score) as score
  from ran
  where purpose like 'held_out%'
  group by all
),

tried as (
  select
    spec_digest,
    arm,
    family,
    seed,
    harness_id,
    any_value(questions) as questions,
    max(score) as score,
    max(tokens) as tokens
  from ran
  join asked as a
    using (spec_digest, arm, family, seed, question_set, questions)
  where purpose in ('parent_scoring', 'candidate_scoring')
  group by all
),

counted as (
  select
    spec_digest,
    arm,
    family,
    seed,
    count(*) as harnesses,
    count(distinct [score, tokens]) filter (not beaten) as frontier,
    max(score) as best
  from (
    select
      t.*,
      exists (
        from tried as o
        where o.spec_digest = t.spec_digest
          and o.arm = t.arm
          and o.family = t.family
          and o.seed = t.seed
          and o.score >= t.score
          and o.tokens <= t.tokens
          and (o.score > t.score or o.tokens < t.tokens)
      ) as beaten
    from tried as t
  )
  group by all
),

margins as (
  select unnest([0.0, 0.1, 0.5]) as margin
)

select
  spec_digest,
  arm,
  family,
  seed,
  m.margin,
  t.tokens,
  t.score,
  h.score as held_out,
  c.harnesses,
  c.frontier,
  t.questions
from tried as t
join counted as c
  using (spec_digest, arm, family, seed)
join margins as m
  on t.score >= c.best - m.margin - 1e-9
left join held_out as h
  using (spec_digest, arm, family, seed, harness_id)
qualify row_number() over (
    partition by spec_digest, arm, family, seed, m.margin order by t.tokens, t.score desc, harness_id
  ) = 1
order by
  arm,
  margin,
  family,
  seed,
  spec_digest
