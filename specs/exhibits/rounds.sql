-- One row a spec, arm, family, seed and round: the harness after that many rounds (0: the first one), its score on the
-- questions that chose it beside its held-out score. In between, the held-out score exists where evaluate_all is set.
select
  spec_digest,
  arm,
  family,
  seed,
  round,
  question_set,
  dev,
  score as held_out,
  dev - score as gap,
  kept_parent::integer as kept_parent,
  questions
from arm_rounds
where spec_digest in (select unnest($specs))
order by
  arm,
  round,
  family,
  seed,
  spec_digest
