-- Where the time went.
select
  kind,
  round(seconds, 1) as seconds,
  finished_at,
  step_key
from steps
order by seconds desc, step_key
limit 50
