-- One row a spec, arm, family and seed, once among all families and once more where it is none of the paper's hard five.
with

worth as (
  select
    spec_digest,
    arm,
    family,
    seed,
    question_set,
    score as mean,
    oracle_best as best,
    selected,
    failed_share,
    proposals
  from arm_scores
  where rounds <= 1
    and spec_digest in (select unnest($specs))
)

select
  'all' as over,
  *
from worth
union all
select
  'without the hard five' as over,
  *
from worth
where family not in ('knight_swap', 'letter_jumble', 'modulo_grid', 'sokoban', 'ab')
order by
  over,
  arm,
  family,
  seed,
  spec_digest
