-- One row a spec, arm, family and seed: what one whole run comes to on held-out questions, by several accounts.
with

recalled as (
  select
    step_key,
    avg(recall order by question_id, repeat) as recall
  from support_recall
  where step_key in (select step_key from chain_rounds)
  group by step_key
),

-- Of the harnesses that the rounds chose, the one that stood highest on the scoring questions; the earliest of equals.
-- Not known where those between the first and the last are not measured.
selected as (
  select
    spec_digest,
    arm,
    family,
    seed,
    em
  from chain_rounds
  where round > 0
  qualify row_number() over (partition by spec_digest, arm, family, seed order by dev desc nulls last, round) = 1
),

-- in_last: whether a proposal is one of the last round's.
proposed as (
  select
    *,
    round = max(round) over (partition by spec_digest, arm, family, seed) as in_last
  from chain_proposals
),

pooled as (
  select
    spec_digest,
    arm,
    family,
    seed,
    count(*) as proposals,
    avg(failed::integer) as failed_share,
    if(count(em) = count(*), avg(em order by round, slot), null) as mean,
    if(count(em) = count(*), max(em), null) as best,
    if(count(em) filter (where in_last) = count(*) filter (where in_last),
      avg(em order by slot) filter (where in_last), null) as last_proposals
  from proposed
  group by all
)

select
  l.spec_digest,
  l.arm,
  l.family,
  l.seed,
  l.chain,
  l.question_set,
  l.em as final,
  l.f1,
  c.recall,
  if(l.rounds = 1 or m.arm is not null, s.em, null) as selected,
  p.mean,
  p.last_proposals,
  p.best,
  p.proposals,
  p.failed_share,
  l.questions
from chain_rounds as l
left join pooled as p
  using (spec_digest, arm, family, seed)
left join selected as s
  using (spec_digest, arm, family, seed)
left join measured_arms as m
  using (spec_digest, arm, family, seed)
left join recalled as c
  using (step_key)
where l.round = l.rounds
  and l.spec_digest in (select unnest($specs))
order by
  l.family,
  l.arm,
  l.chain,
  l.seed,
  l.spec_digest
