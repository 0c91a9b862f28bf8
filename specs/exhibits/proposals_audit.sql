-- One row a spec, arm, family and seed: what its proposals are, as shares of all and as counts.
with

audited as (
  select
    spec_digest,
    arm,
    family,
    seed,
    count(*) as proposals,
    avg(failed::integer) as failed,
    avg(coalesce((flow ->> '$.interpreter_loop')::boolean, false)::integer) as interpreter_loop,
    avg(coalesce((flow ->> '$.algorithm')::boolean, false)::integer) as algorithm,
    avg(coalesce((flow ->> '$.prompt_change')::boolean, false)::integer) as prompt_change,
    avg(coalesce((flow ->> '$.composed')::boolean, false)::integer) as composed,
    avg(coalesce(used > 0, false)::integer) as used,
    avg(coalesce(looped > 0, false)::integer) as looped,
    avg(coalesce(alone > 0, false)::integer) as alone,
    avg((
      flow is not null
      and not (flow ->> '$.interpreter_loop')::boolean
      and not (flow ->> '$.algorithm')::boolean
      and not (flow ->> '$.prompt_change')::boolean
    )::integer) as other,
    count(*) filter (where (flow ->> '$.interpreter_loop')::boolean) as loops,
    count(*) filter (where (flow ->> '$.algorithm')::boolean) as algorithms,
    count(*) filter (where (flow ->> '$.prompt_change')::boolean) as prompts_changed,
    count(*) filter (where (flow ->> '$.composed')::boolean) as compositions,
    count(*) filter (where used > 0) as uses
  from audited_proposals($specs)
  group by all
)

select
  spec_digest,
  arm,
  family,
  seed,
  a.* exclude (spec_digest, arm, family, seed)
from family_arms
left join audited as a
  using (spec_digest, arm, family, seed)
where spec_digest in (select unnest($specs))
order by
  arm,
  family,
  seed,
  spec_digest
