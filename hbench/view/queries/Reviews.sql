-- How often a reviewer replaced what a student proposed.
select
  step_key,
  domain,
  trajectories,
  turns,
  replaced,
  round(replaced_share, 3) as replaced_share
from review_rate
order by step_key
