-- One row a spec, arm, family, seed and round: the harness after that many rounds on held-out questions, beside what
-- the proposals of that round are worth.
with

recalled as (
  select
    step_key,
    avg(recall order by question_id, repeat) as recall
  from support_recall
  where step_key in (select step_key from chain_rounds)
  group by step_key
),

pooled as (
  select
    spec_digest,
    arm,
    family,
    seed,
    round + 1 as round,
    count(*) as proposals,
    avg(failed::integer) as failed_share,
    if(count(em) = count(*), avg(em order by slot), null) as mean,
    if(count(em) = count(*), max(em), null) as best
  from chain_proposals
  group by all
)

select
  spec_digest,
  r.arm,
  r.family,
  r.seed,
  r.chain,
  r.round,
  r.question_set,
  r.em,
  r.f1,
  r.dev,
  c.recall,
  p.mean,
  p.best,
  p.proposals,
  p.failed_share,
  r.questions
from chain_rounds as r
left join pooled as p
  using (spec_digest, arm, family, seed, round)
left join recalled as c
  using (step_key)
where r.spec_digest in (select unnest($specs))
order by
  r.family,
  r.arm,
  r.round,
  r.chain,
  r.seed,
  spec_digest
