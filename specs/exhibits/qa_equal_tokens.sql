-- One row a spec, arm, family, seed and tenth of the token budget: the last measured point that the budget pays for.
-- The budget is what the cheapest arm with proposals uses in all, so that every arm reaches it.
with

most as (
  select
    spec_digest,
    family,
    min(tokens) as tokens
  from (
    select
      spec_digest,
      arm,
      family,
      seed,
      max(tokens) as tokens
    from proposal_curves
    where spec_digest in (select unnest($specs))
    group by all
    having max(proposals) > 0
  )
  group by all
),

budget as (
  select
    spec_digest,
    family,
    tokens,
    unnest(range(1, 11)) as tenth
  from most
)

select
  spec_digest,
  c.arm,
  family,
  c.seed,
  c.chain,
  b.tenth * 10 as percent,
  b.tokens * b.tenth / 10 as budget,
  c.proposals,
  c.tokens as used,
  c.selected,
  c.best
from proposal_curves as c
join budget as b
  using (spec_digest, family)
where c.tokens <= b.tokens * b.tenth / 10
qualify row_number() over (
    partition by spec_digest, c.arm, family, c.seed, b.tenth order by c.proposals desc
  ) = 1
order by
  family,
  c.arm,
  percent,
  c.chain,
  c.seed,
  spec_digest
