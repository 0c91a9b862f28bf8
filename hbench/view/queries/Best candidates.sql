-- Candidates that beat their parent by most, on scoring questions.
select
  c.spec,
  c.arm,
  c.family,
  c.round,
  c.slot,
  round(c.score - r.parent_score, 3) as gain,
  round(c.score, 3) as score,
  c.harness_id,
  r.parent_id
from candidate_scores as c
join rounds as r using (spec_digest, arm, family, seed, round)
where c.split = 'scoring' and not c.failed
order by gain desc, c.spec, c.arm, c.family, c.round, c.slot
limit 100
