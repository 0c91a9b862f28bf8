-- One row a spec, arm, family, seed and round: what adaptation has used by then, and what its harness is worth.
select
  spec_digest,
  b.arm,
  b.family,
  b.seed,
  b.chain,
  b.round,
  r.question_set,
  r.em,
  b.proposals,
  b.feedback_questions,
  b.solver_tokens,
  b.proposer_tokens,
  b.seconds / 60 as minutes
from budgets as b
left join chain_rounds as r
  using (spec_digest, arm, family, seed, round)
where spec_digest in (select unnest($specs))
order by
  b.family,
  b.arm,
  b.round,
  b.chain,
  b.seed,
  spec_digest
