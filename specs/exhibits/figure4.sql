-- One row a spec, arm, family, seed and round: the harness after that many rounds, beside the round's proposals and
-- beside the independent ones of the same proposer.
with

pooled as (
  select
    spec_digest,
    arm,
    family,
    seed,
    round + 1 as round,
    count(*) as proposals,
    if(count(score) = count(*), avg(score order by slot), null) as mean,
    if(count(score) = count(*), max(score), null) as best
  from arm_proposals
  group by all
),

-- Arms of one round; the sequential arm that stands against them is named by them: rl and rl_sequential.
independent as (
  select
    spec_digest,
    arm || '_sequential' as arm,
    family,
    seed,
    question_set,
    score as mean,
    oracle_best as best
  from arm_scores
  where rounds = 1
)

select
  spec_digest,
  r.wording,
  r.arm,
  r.family,
  r.seed,
  r.round,
  r.question_set,
  r.score as held_out,
  p.mean,
  p.best,
  r.score - i.mean as over_mean,
  r.score - i.best as over_best,
  r.score - before.score as gain,
  p.proposals
from arm_rounds as r
left join pooled as p
  using (spec_digest, arm, family, seed, round)
left join independent as i
  using (spec_digest, arm, family, seed, question_set)
left join arm_rounds as before
  on before.spec_digest = r.spec_digest
  and before.arm = r.arm
  and before.family = r.family
  and before.seed = r.seed
  and before.round = r.round - 1
where r.spec_digest in (select unnest($specs))
order by
  r.wording,
  r.arm,
  r.round,
  r.family,
  r.seed,
  spec_digest
