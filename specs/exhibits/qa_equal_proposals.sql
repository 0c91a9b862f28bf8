-- One row a spec, arm, family, seed and number of proposals at which some arm ends a round.
with

grid as (
  select distinct
    spec_digest,
    family,
    proposals
  from budgets
)

select
  spec_digest,
  c.arm,
  family,
  c.seed,
  c.chain,
  proposals::bigint as proposals,
  c.selected,
  c.mean,
  c.best,
  c.tokens
from proposal_curves as c
join grid
  using (spec_digest, family, proposals)
where spec_digest in (select unnest($specs))
order by
  family,
  c.arm,
  proposals,
  c.chain,
  c.seed,
  spec_digest
