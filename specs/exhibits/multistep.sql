-- One row a spec, arm, family, seed and round: the harness after that many rounds, with the wording of its questions.
select
  spec_digest,
  wording,
  arm,
  family,
  seed,
  round,
  question_set,
  score as held_out,
  dev,
  kept_parent::integer as kept_parent
from arm_rounds
where spec_digest in (select unnest($specs))
order by
  wording,
  arm,
  round,
  family,
  seed,
  spec_digest
