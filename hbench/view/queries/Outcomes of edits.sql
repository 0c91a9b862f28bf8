-- What became of proposals.
select
  outcome,
  count(*) as candidates,
  round(avg(completion_tokens)) as completion_tokens,
  any_value(error) as example
from candidates
group by all
order by candidates desc, outcome
