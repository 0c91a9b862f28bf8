-- Questions that no harness, or hardly one, solves.
select
  q.family,
  round(avg(r.score), 3) as score,
  count(*) as rollouts,
  left(q.text, 200) as question,
  r.question_id
from rollouts as r
join questions as q using (question_id)
group by all
having count(*) >= 5
order by score, rollouts desc, r.question_id
limit 100
