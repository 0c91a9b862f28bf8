-- One row a spec, arm, family and seed: how many of its proposals failed, or ran and scored nothing.
select
  spec_digest,
  arm,
  family,
  seed,
  failed_or_zero,
  failed_share,
  dev_zero_share,
  round(failed_or_zero * proposals) as count,
  proposals
from arm_scores
where spec_digest in (select unnest($specs))
order by
  arm,
  family,
  seed,
  spec_digest
