-- One row a spec, arm, family, seed and round: the harness after that many rounds on held-out questions.
select
  spec_digest,
  arm,
  family,
  seed,
  chain,
  round,
  question_set,
  em,
  f1,
  dev
from chain_rounds
where spec_digest in (select unnest($specs))
order by
  family,
  arm,
  round,
  chain,
  seed,
  spec_digest
