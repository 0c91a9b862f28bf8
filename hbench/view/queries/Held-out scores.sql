-- The last harness of every arm, on held-out questions.
select
  spec,
  arm,
  family,
  seed,
  questions,
  round(score, 3) as score,
  round(completion_rate, 3) as completion_rate,
  harness_id
from held_out
where purpose = 'held_out' and limited is null
order by spec, arm, family, seed
