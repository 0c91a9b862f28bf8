-- labelled_steps: Every step of the newest finished run of each spec, with what it is for. Other views start here.
-- One artifact may serve many specs, arms and rounds: it then stands here once for each. A whole run comes before
-- limited ones.
create or replace view labelled_steps as
with newest as (
    select
        spec_digest,
        run_id,
        limited
    from runs
    where outcome = 'finished'
    qualify row_number() over (
        partition by spec_digest order by limited is null desc, ended_at desc, run_id desc
    ) = 1
)
select
    labels.spec_digest,
    specs.name as spec,
    labels.arm,
    labels.family,
    labels.seed,
    labels.round,
    labels.slot,
    labels.purpose,
    labels.label,
    labels.step_id,
    done.step_key,
    done.status,
    newest.run_id,
    newest.limited
from plan_labels as labels
join newest on newest.spec_digest = labels.spec_digest
join specs on specs.spec_digest = labels.spec_digest
join run_steps as done on done.run_id = newest.run_id and done.step_id = labels.step_id;

-- step_scores: Mean scores of each step that ran a harness, over its questions and repeats.
create or replace view step_scores as
with exact as (
    select
        step_key,
        candidate,
        avg(value) as exact
    from grades
    where name = 'exact'
    group by all
)
select
    rollouts.step_key,
    rollouts.candidate,
    any_value(rollouts.harness_id) as harness_id,
    count(distinct rollouts.question_id) as questions,
    count(*) as rollouts,
    avg(rollouts.score) as score,
    any_value(exact.exact) as exact,
    avg(rollouts.completed::int) as completion_rate,
    sum(rollouts.prompt_tokens + rollouts.completion_tokens) as tokens
from rollouts
left join exact on exact.step_key = rollouts.step_key and exact.candidate = rollouts.candidate
group by rollouts.step_key, rollouts.candidate;

-- held_out: Mean held-out score per spec, arm, family and harness. `purpose` says which harness: the arm's last
-- (held_out), its first (held_out_seed), a round's parent (held_out_round) or a candidate (held_out_candidate).
-- score is NULL where nothing was run: a failed edit. limited: the N of --limit N, a quick look and no result. For one
-- number an arm, take `purpose = 'held_out'` and say which spec.
create or replace view held_out as
select
    steps.spec_digest,
    steps.spec,
    steps.arm,
    steps.family,
    steps.seed,
    steps.limited,
    steps.purpose,
    steps.round,
    steps.slot,
    scores.harness_id,
    coalesce(scores.questions, 0) as questions,
    scores.score,
    scores.exact,
    scores.completion_rate,
    scores.tokens,
    steps.step_key
from labelled_steps as steps
left join step_scores as scores on scores.step_key = steps.step_key
where steps.purpose in ('held_out', 'held_out_seed', 'held_out_round', 'held_out_candidate');

-- rounds: What was selected in each round, per spec, arm, family and seed.
create or replace view rounds as
select
    steps.spec_digest,
    steps.spec,
    steps.arm,
    steps.family,
    steps.seed,
    steps.round,
    selections.rule,
    selections.parent_id,
    selections.chosen_id,
    selections.slot as chosen_slot,
    selections.parent_score,
    selections.chosen_score,
    selections.kept_parent,
    steps.step_key
from labelled_steps as steps
join selections on selections.step_key = steps.step_key
where steps.purpose = 'select';

-- candidate_scores: Every candidate with its mean score, on the scoring and on the evaluation questions (`split`).
-- A candidate is `failed` when its edit failed: it was not run, and its score and place are NULL. An edit that changes
-- nothing is none: it has its parent's score. Place 1 is the best of its round; equal scores stand in the order proposed.
create or replace view candidate_scores as
with parents as (
    select
        steps.spec_digest,
        steps.arm,
        steps.family,
        steps.seed,
        if(steps.purpose = 'held_out_seed', 0, steps.round) as round,
        if(steps.purpose = 'parent_scoring', 'scoring', 'evaluation') as split,
        any_value(scores.score) as score,
        any_value(scores.exact) as exact,
        any_value(scores.completion_rate) as completion_rate
    from labelled_steps as steps
    join step_scores as scores on scores.step_key = steps.step_key
    where steps.purpose in ('parent_scoring', 'held_out_seed', 'held_out_round')
    group by all
),

outcomes as (
    select
        steps.spec_digest,
        steps.arm,
        steps.family,
        steps.seed,
        steps.round,
        steps.slot,
        candidates.outcome
    from labelled_steps as steps
    join candidates on candidates.step_key = steps.step_key
    where steps.purpose = 'propose'
),

scored as (
    select
        steps.spec_digest,
        steps.spec,
        steps.arm,
        steps.family,
        steps.seed,
        steps.round,
        steps.slot,
        if(steps.purpose = 'candidate_scoring', 'scoring', 'evaluation') as split,
        scores.harness_id,
        outcomes.outcome,
        coalesce(outcomes.outcome not in ('applied', 'no_change'), scores.score is null) as failed,
        if(outcomes.outcome = 'no_change', parents.score, scores.score) as score,
        if(outcomes.outcome = 'no_change', parents.exact, scores.exact) as exact,
        if(outcomes.outcome = 'no_change', parents.completion_rate, scores.completion_rate) as completion_rate,
        steps.step_key
    from labelled_steps as steps
    left join step_scores as scores on scores.step_key = steps.step_key
    left join outcomes
        on outcomes.spec_digest = steps.spec_digest
        and outcomes.arm = steps.arm
        and outcomes.family = steps.family
        and outcomes.seed = steps.seed
        and outcomes.round = steps.round
        and outcomes.slot = steps.slot
    left join parents
        on parents.spec_digest = steps.spec_digest
        and parents.arm = steps.arm
        and parents.family = steps.family
        and parents.seed = steps.seed
        and parents.round = steps.round
        and parents.split = if(steps.purpose = 'candidate_scoring', 'scoring', 'evaluation')
    where steps.purpose in ('candidate_scoring', 'held_out_candidate')
)
select
    *,
    if(failed, null, row_number() over (
        partition by spec_digest, arm, family, seed, round, split order by score desc nulls last, slot
    )) as place
from scored;

-- proposal_scores: Mean, best and failed share of the proposals per family, on scoring and on evaluation questions.
-- mean_score leaves failed edits out, mean_failed_zero counts them as 0. best_score is an oracle's choice.
create or replace view proposal_scores as
select
    spec_digest,
    spec,
    arm,
    family,
    seed,
    split,
    count(*) as proposals,
    avg(score) as mean_score,
    avg(coalesce(score, 0)) as mean_failed_zero,
    max(score) as best_score,
    avg(failed::int) as failed_share,
    avg((coalesce(score, 0) = 0)::int) as zero_share
from candidate_scores
group by all;

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
        if(by_title, titles[place], null) as title
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
