-- What goes wrong when harnesses run, and where.
select
  failure,
  boundary,
  count(*) as rollouts,
  any_value(error) as example
from rollouts
where failure is not null
group by all
order by rollouts desc, failure, boundary
