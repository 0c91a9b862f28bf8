-- One row a spec, arm with independent proposals, family and seed: their mean, failed edits counted three ways. An arm
-- without proposals has its harness's score.
select
  spec_digest,
  arm,
  family,
  seed,
  question_set,
  score as keeps,
  failed_as_zero as zero,
  failed_left_out as left_out,
  failed_share,
  proposals
from arm_scores
where rounds <= 1
  and spec_digest in (select unnest($specs))
order by
  arm,
  family,
  seed,
  spec_digest
