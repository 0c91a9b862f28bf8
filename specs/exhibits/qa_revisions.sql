-- One row a spec, arm, family, seed and round: what the harness after that many rounds does with what its tools give
-- it. By its source in every round; by the events of its held-out rollouts for the first and the last harness.
with

chosen as (
  select *
  from chain_rounds
  where spec_digest in (select unnest($specs))
),

audited as materialized (
  select
    harness_id,
    text,
    lines,
    harness_flow(text) as flow
  from harnesses
  where path = 'harness.py'
    and harness_id in (select harness_id from chosen)
),

-- Of the long requests only those are read that the audit looks at: the last one, and all where code was run.
traced as (
  select
    e.step_key,
    e.question_id,
    e.repeat,
    e.position,
    e.kind,
    e.received_digest,
    if(
      e.kind <> 'lm'
      or e.position = max(e.position) filter (where e.kind = 'lm') over its_rollout
      or bool_or(e.kind = 'python') over its_rollout,
      e.sent_digest, null
    ) as sent_digest
  from events as e
  where e.step_key in (select step_key from chosen where round in (0, rounds))
    and e.role in ('', 'solver')
  window its_rollout as (partition by e.step_key, e.question_id, e.repeat)
),

flows as materialized (
  select
    t.step_key,
    t.question_id,
    t.repeat,
    count(*) filter (where t.kind = 'search') as searches,
    rollout_flow(
      any_value(q.text),
      to_json(list({'kind': t.kind, 'sent': s.text, 'received': r.text} order by t.position))
    )::json as flow
  from traced as t
  join questions as q
    using (question_id)
  left join texts as s
    on s.digest = t.sent_digest
  left join texts as r
    on r.digest = t.received_digest
  group by all
),

happened as (
  select
    step_key,
    avg((flow ->> '$.summary_feeds_query')::boolean::integer) as seen_summary_feeds_query,
    avg((flow ->> '$.third_search')::boolean::integer) as seen_third_search,
    avg((searches > fewest)::integer) as seen_further_search,
    avg((flow ->> '$.passages_reach_answer')::boolean::integer) as seen_passages_reach_answer,
    avg((flow ->> '$.interpreter_loop')::boolean::integer) as seen_interpreter_loop
  from (
    select
      *,
      min(searches) over (partition by step_key) as fewest
    from flows
  )
  group by step_key
)

select
  c.spec_digest,
  c.arm,
  c.family,
  c.seed,
  c.chain,
  c.round,
  c.question_set,
  c.em,
  (a.text <> f.text)::integer as changed,
  if(a.text <> f.text, prompt_only_change(f.text, a.text)::integer, null) as prompt_only,
  (json_array_length(a.flow, '$.summary_feeds_query') > 0)::integer as summary_feeds_query,
  (json_array_length(a.flow, '$.third_search') > 0)::integer as third_search,
  (json_array_length(a.flow, '$.conditional_search') > 0)::integer as conditional_search,
  (json_array_length(a.flow, '$.draft_checked') > 0)::integer as draft_checked,
  (json_array_length(a.flow, '$.passages_reach_answer') > 0)::integer as passages_reach_answer,
  (json_array_length(a.flow, '$.summaries_reach_answer') > 0)::integer as summaries_reach_answer,
  (json_array_length(a.flow, '$.interpreter_loop') > 0)::integer as interpreter_loop,
  h.seen_summary_feeds_query,
  h.seen_third_search,
  h.seen_further_search,
  h.seen_passages_reach_answer,
  h.seen_interpreter_loop,
  a.lines,
  if(c.round = c.rounds, f.text, null) as seed_text,
  a.text as chosen_text,
  f.flow as seed_flow,
  a.flow as chosen_flow
from chosen as c
left join audited as a
  using (harness_id)
left join chosen as first_chosen
  on first_chosen.spec_digest = c.spec_digest
  and first_chosen.arm = c.arm
  and first_chosen.family = c.family
  and first_chosen.seed = c.seed
  and first_chosen.round = 0
left join audited as f
  on f.harness_id = first_chosen.harness_id
left join happened as h
  on h.step_key = c.step_key
  and c.round in (0, c.rounds)
order by
  c.family,
  c.arm,
  c.round,
  c.chain,
  c.seed,
  c.spec_digest
