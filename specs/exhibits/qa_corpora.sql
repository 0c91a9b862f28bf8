-- One row a spec, arm, family and seed: how many documents can be searched, and how many questions serve which role.
with

splits as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    l.chain,
    count(distinct q.question_id) filter (where q.role = 'evaluation') as held_out,
    count(distinct q.question_id) filter (where q.role <> 'evaluation') as development,
    md5(string_agg(distinct q.question_id, ' ' order by q.question_id) filter (where q.role = 'evaluation'))
      as question_set
  from chain_steps as l
  join split_questions as q
    using (step_key)
  group by all
),

supported as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    avg(json_array_length(n.meta, '$.supporting')) as supporting
  from (
    select distinct
      spec_digest,
      arm,
      family,
      seed,
      step_key
    from chain_steps
    where purpose = 'split_evaluation'
  ) as l
  join split_questions as q
    using (step_key)
  join questions as n
    using (question_id)
  group by all
),

-- A step that ran a harness notes how many documents each corpus had, by the digest that its family was hashed with.
searched as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    max((t.made_with -> '$.documents' ->> (t.params ->> '$.family.libraries.corpus'))::bigint) as documents
  from chain_steps as l
  join steps as t
    using (step_key)
  group by all
)

select
  spec_digest,
  arm,
  family,
  seed,
  s.chain,
  s.question_set,
  d.documents,
  s.development + s.held_out as questions,
  s.development,
  s.held_out,
  n.supporting
from splits as s
left join supported as n
  using (spec_digest, arm, family, seed)
left join searched as d
  using (spec_digest, arm, family, seed)
where spec_digest in (select unnest($specs))
order by
  family,
  s.chain,
  seed,
  spec_digest
