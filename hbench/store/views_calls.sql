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

-- ledger: Model calls, tokens and seconds by role, arm and round. What the reply store answered (reused_…) stands
-- apart from what was spent. A step that serves several arms counts in each, once: do not add up arms.
create or replace view ledger as
with calls as (
    select
        step_key,
        role,
        coalesce(reused, false) as reused,
        prompt_tokens,
        completion_tokens,
        seconds
    from events
    where kind = 'lm'
    union all
    select
        step_key,
        'proposer',
        false,
        prompt_tokens,
        completion_tokens,
        seconds
    from candidates
    where step_key not in (select step_key from events where role = 'proposer')
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
    count(*) filter (not calls.reused) as calls,
    coalesce(sum(calls.prompt_tokens) filter (not calls.reused), 0) as prompt_tokens,
    coalesce(sum(calls.completion_tokens) filter (not calls.reused), 0) as completion_tokens,
    coalesce(sum(calls.seconds) filter (not calls.reused), 0) as seconds,
    count(*) filter (calls.reused) as reused_calls,
    coalesce(sum(calls.prompt_tokens + calls.completion_tokens) filter (calls.reused), 0) as reused_tokens
from served
join calls on calls.step_key = served.step_key
group by all;
