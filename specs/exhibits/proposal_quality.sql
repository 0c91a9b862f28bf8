-- One row a spec, arm, family and seed: what its proposals are worth on the held-out questions.
select
  spec_digest,
  arm,
  family,
  seed,
  question_set,
  score,
  exact,
  failed_as_zero,
  failed_left_out,
  oracle_best,
  selected,
  failed_share,
  dev_zero_share,
  proposals,
  questions
from arm_scores
where spec_digest in (select unnest($specs))
order by
  arm,
  family,
  seed,
  spec_digest
