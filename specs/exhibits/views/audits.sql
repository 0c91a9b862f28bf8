-- What proposals are, by their sources and by what happened when they were run. Needs the views of proposals.sql and edits.sql.

-- One row a proposal of these specs. By its source (null after a failed edit): flow, see proposal_flow. By its rollouts
-- on scoring and held-out questions: shares in which code of the solver was run and shown, in which the harness answered
-- without a call, and in which a function that the edit brought made the answer.
create or replace temporary macro audited_proposals(specs) as table
with

edits as materialized (
  select
    parent_id,
    harness_id,
    proposal_flow(before, after) as flow
  from proposed_edits(specs)
),

flows as materialized (
  select
    p.spec_digest,
    p.arm,
    p.family,
    p.seed,
    p.round,
    p.slot,
    p.outcome,
    p.failed,
    e.flow
  from arm_proposals as p
  left join edits as e
    using (parent_id, harness_id)
  where p.spec_digest in (select unnest(specs))
),

ran as (
  select distinct
    f.spec_digest,
    f.arm,
    f.family,
    f.seed,
    f.round,
    f.slot,
    f.flow,
    l.step_key,
    l.candidate
  from flows as f
  join counted_steps as l
    using (spec_digest, arm, family, seed, round, slot)
  where l.purpose in ('candidate_scoring', 'held_out_candidate')
    and f.flow is not null
),

-- Texts are read only where the source has something that a trace could show.
traced as materialized (
  select
    e.step_key,
    e.candidate,
    e.question_id,
    e.repeat,
    to_json(list({'kind': e.kind, 'sent': s.text, 'received': r.text} order by e.position))::varchar as events
  from events as e
  left join texts as s
    on s.digest = e.sent_digest
  left join texts as r
    on r.digest = e.received_digest
  where e.role in ('', 'solver')
    and e.step_key in (
      select step_key
      from ran
      where (flow ->> '$.interpreter_loop')::boolean
        or (flow ->> '$.helper')::boolean
    )
  group by all
),

happened as (
  select
    a.spec_digest,
    a.arm,
    a.family,
    a.seed,
    a.round,
    a.slot,
    avg(coalesce((rollout_flow(coalesce(q.text, ''), t.events) ->> '$.interpreter_loop')::boolean, false)::integer) as looped,
    avg((o.completed and coalesce(o.calls, 0) = 0)::integer) as alone,
    avg(coalesce(helper_used(a.flow, o.answer, coalesce(t.events, '[]')), false)::integer) as used
  from ran as a
  join rollouts as o
    using (step_key, candidate)
  left join questions as q
    using (question_id)
  left join traced as t
    using (step_key, candidate, question_id, repeat)
  where o.failure is distinct from 'not_run'
  group by all
)

select
  f.*,
  h.looped,
  h.alone,
  h.used
from flows as f
left join happened as h
  using (spec_digest, arm, family, seed, round, slot);
