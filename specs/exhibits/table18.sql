-- One row a spec, arm with proposals, family and seed: how many of its proposals attach a helper, and how many use it.
with

audited as (
  select
    spec_digest,
    arm,
    family,
    seed,
    count(*) as proposals,
    avg(failed::integer) as failed,
    avg(coalesce((flow ->> '$.interpreter_loop')::boolean, false)::integer) as keeps_loop,
    avg(coalesce((flow ->> '$.helper')::boolean, false)::integer) as helper,
    avg(coalesce((flow ->> '$.composed')::boolean, false)::integer) as composed,
    count(*) filter (where (flow ->> '$.composed')::boolean) as compositions,
    avg(coalesce(used > 0, false)::integer) as used,
    count(*) filter (where used > 0) as uses,
    avg(coalesce(used, 0) order by round, slot) as used_rollouts
  from audited_proposals($specs)
  group by all
)

select
  spec_digest,
  arm,
  family,
  seed,
  a.failed,
  a.keeps_loop,
  a.helper,
  a.composed,
  a.compositions,
  a.used,
  a.uses,
  a.used_rollouts,
  s.score,
  a.proposals
from arm_scores as s
left join audited as a
  using (spec_digest, arm, family, seed)
where spec_digest in (select unnest($specs))
order by
  arm,
  family,
  seed,
  spec_digest
