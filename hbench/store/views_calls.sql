-- event_texts: Every tool call with what was asked and what came back.
create or replace view event_texts as
select
    events.*,
    sent.text as sent,
    received.text as received
from events
left join texts.texts as sent on sent.digest = events.sent_digest
left join texts.texts as received on received.digest = events.received_digest;

-- support_recall: Share of a question's supporting documents that the searches of a rollout found, one row a rollout of
-- a question that has some. Documents are told apart by id; also by title where the family says that titles are unique.
-- A rollout that never searched found none.
create or replace view support_recall as
with listed as (
    select
        question_id,
        from_json(meta -> '$.supporting', '["VARCHAR"]') as ids,
        from_json(meta -> '$.supporting_titles', '["VARCHAR"]') as titles,
        coalesce((meta ->> '$.titles_are_unique')::boolean, false) as by_title
    from questions
    where (meta -> '$.supporting') is not null
),

wanted as (
    select
        question_id,
        place,
        ids[place] as document_id,
        case when by_title then titles[place] end as title
    from (
        select
            *,
            unnest(range(1, greatest(len(ids), coalesce(len(titles), 0)) + 1)) as place
        from listed
    )
),

passages as (
    select
        searches.step_key,
        searches.candidate,
        searches.question_id,
        searches.repeat,
        unnest(from_json(received.text::json, '[{"id": "VARCHAR", "title": "VARCHAR"}]')) as passage
    from events as searches
    join texts.texts as received on received.digest = searches.received_digest
    where searches.kind = 'search'
),

found as (
    select distinct
        passages.step_key,
        passages.candidate,
        passages.question_id,
        passages.repeat,
        wanted.place
    from passages
    join wanted
        on wanted.question_id = passages.question_id
        and (wanted.document_id = passages.passage.id or wanted.title = passages.passage.title)
),

counted as (
    select
        step_key,
        candidate,
        question_id,
        repeat,
        count(*) as found
    from found
    group by all
)
select
    rollouts.step_key,
    rollouts.candidate,
    rollouts.question_id,
    rollouts.repeat,
    asked.supporting,
    coalesce(counted.found, 0) as found,
    coalesce(counted.found, 0) / asked.supporting as recall
from rollouts
join (
    select
        question_id,
        count(*) as supporting
    from wanted
    group by question_id
) as asked on asked.question_id = rollouts.question_id
left join counted
    on counted.step_key = rollouts.step_key
    and counted.candidate = rollouts.candidate
    and counted.question_id = rollouts.question_id
    and counted.repeat = rollouts.repeat;

-- review_rate: How often the reviewer replaced a proposal, per step and domain.
create or replace view review_rate as
select
    step_key,
    domain,
    count(*) as trajectories,
    sum(turns) as turns,
    sum(replaced) as replaced,
    sum(replaced) / nullif(sum(turns), 0) as replaced_share
from trajectories
group by all;

-- ledger: Model calls, tokens, seconds and money by role, arm and round: what the steps of each spec's newest finished run
-- took, over all runs that worked on them. What the reply store answered (reused_…) stands apart from what was spent. A
-- step that serves several arms counts in each, once: do not add up arms. cost is NULL where no run has noted it.
create or replace view ledger as
with noted as (
    select
        step_key,
        role,
        model,
        sum(calls) as calls,
        sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens,
        sum(cost) as cost,
        sum(seconds) as seconds,
        sum(reused_calls) as reused_calls,
        sum(reused_tokens) as reused_tokens
    from spend
    group by all
),

told as (
    select
        step_key,
        role,
        model,
        count(*) filter (not coalesce(reused, false)) as calls,
        sum(prompt_tokens) filter (not coalesce(reused, false)) as prompt_tokens,
        sum(completion_tokens) filter (not coalesce(reused, false)) as completion_tokens,
        null as cost,
        sum(seconds) filter (not coalesce(reused, false)) as seconds,
        count(*) filter (reused) as reused_calls,
        sum(prompt_tokens + completion_tokens) filter (reused) as reused_tokens
    from events
    where kind = 'lm'
    group by all
    union all
    select
        step_key,
        'proposer',
        '',
        count(*),
        sum(prompt_tokens),
        sum(completion_tokens),
        null,
        sum(seconds),
        0,
        0
    from candidates
    where
        step_key not in (select step_key from events where role = 'proposer')
        and step_key not in (select step_key from noted where role = 'proposer')
    group by all
),

calls as (
    from noted
    union all by name
    from told anti join noted using (step_key, role, model)
),

served as (
    select distinct
        spec_digest,
        spec,
        arm,
        family,
        seed,
        round,
        step_key
    from labelled_steps
    where step_key is not null
    qualify row_number() over (
        partition by spec_digest, arm, family, seed, step_key order by round nulls last
    ) = 1
)
select
    served.spec_digest,
    served.spec,
    served.arm,
    served.family,
    served.seed,
    served.round,
    calls.role,
    sum(calls.calls) as calls,
    coalesce(sum(calls.prompt_tokens), 0) as prompt_tokens,
    coalesce(sum(calls.completion_tokens), 0) as completion_tokens,
    coalesce(sum(calls.seconds), 0) as seconds,
    sum(calls.reused_calls) as reused_calls,
    coalesce(sum(calls.reused_tokens), 0) as reused_tokens,
    sum(calls.cost) as cost
from served
join calls on calls.step_key = served.step_key
group by all;

-- run_spend: What each run spent by arm, family, round and role, finished or not, one row each. A step that serves several
-- arms counts in each, once: `select sum(cost) from spend where run_id = …` is what the run cost.
create or replace view run_spend as
with labels as (
    select
        spec_digest,
        step_id,
        arm,
        family,
        seed,
        min(round) as round
    from plan_labels
    group by all
)
select
    runs.run_id,
    runs.spec_digest,
    labels.arm,
    labels.family,
    labels.seed,
    labels.round,
    spend.role,
    sum(spend.calls) as calls,
    sum(spend.prompt_tokens) as prompt_tokens,
    sum(spend.completion_tokens) as completion_tokens,
    sum(spend.cost) as cost,
    sum(spend.seconds) as seconds,
    sum(spend.reused_calls) as reused_calls,
    sum(spend.reused_tokens) as reused_tokens
from spend
join runs on runs.run_id = spend.run_id
join labels on labels.spec_digest = runs.spec_digest and labels.step_id = spend.step_id
group by all;
