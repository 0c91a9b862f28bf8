-- One row a spec, arm, family and seed: how many documents can be searched, and how many questions serve which role in
-- any of the spec's arms.
with

splits as (
  select
    l.spec_digest,
    l.family,
    l.seed,
    count(distinct q.question_id) as questions,
    count(distinct q.question_id) filter (where q.role <> 'evaluation') as development,
    count(distinct q.question_id) filter (where q.role = 'evaluation') as held_out
  from chain_steps as l
  join split_questions as q
    using (step_key)
  group by all
),

-- Each round has a split of its own.
rounds as (
  select
    spec_digest,
    family,
    seed,
    avg(questions) filter (where role = 'feedback') as feedback,
    avg(questions) filter (where role = 'scoring') as scoring
  from (
    select
      l.spec_digest,
      l.family,
      l.seed,
      q.role,
      l.step_key,
      count(distinct q.question_id) as questions
    from chain_steps as l
    join split_questions as q
      using (step_key)
    group by all
  )
  group by all
),

supported as (
  select
    o.spec_digest,
    o.family,
    o.seed,
    avg(json_array_length(n.meta, '$.supporting')) as supporting
  from (
    select distinct
      l.spec_digest,
      l.family,
      l.seed,
      q.question_id
    from chain_steps as l
    join split_questions as q
      using (step_key)
    where q.role = 'evaluation'
  ) as o
  join questions as n
    using (question_id)
  group by all
),

-- A step that ran a harness notes how many documents each corpus had, by the digest that its family was hashed with.
searched as (
  select
    l.spec_digest,
    l.family,
    l.seed,
    max((t.made_with -> '$.documents' ->> (t.params ->> '$.family.libraries.corpus'))::bigint) as documents
  from chain_steps as l
  join steps as t
    using (step_key)
  group by all
),

arms as (
  select distinct
    spec_digest,
    arm,
    family,
    seed,
    chain
  from chain_steps
)

select
  spec_digest,
  a.arm,
  family,
  seed,
  a.chain,
  d.documents,
  s.questions,
  s.development,
  s.held_out,
  r.feedback,
  r.scoring,
  n.supporting
from arms as a
join splits as s
  using (spec_digest, family, seed)
join rounds as r
  using (spec_digest, family, seed)
left join supported as n
  using (spec_digest, family, seed)
left join searched as d
  using (spec_digest, family, seed)
where spec_digest in (select unnest($specs))
order by
  family,
  a.arm,
  a.chain,
  seed,
  spec_digest
