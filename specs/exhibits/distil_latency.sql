-- One row a spec, arm, domain, seed and question: what a rollout of it takes. A question here is never a scenario: each has a
-- rollout of its own.
with

taken as (
  select
    s.spec_digest,
    s.family,
    s.arm,
    s.seed,
    r.question_id as question,
    avg(r.seconds order by r.repeat) as seconds,
    avg(r.turns) as turns,
    avg(r.completion_tokens) as tokens,
    avg(r.reviewer_tokens) as reviewer_tokens,
    100 * avg((r.seconds is null)::integer) as untimed
  from acted_steps as s
  join acted_rollouts as r
    using (step_key)
  where s.purpose = 'held_out'
    and s.spec_digest in (select unnest($specs))
  group by all
)

select
  *
from taken
order by
  family,
  arm,
  question,
  seed,
  spec_digest
