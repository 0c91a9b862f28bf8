-- labelled_steps: Every step of the newest finished run of each spec, with what it is for. Other views start here.
-- One artifact may serve many specs, arms and rounds: it then stands here once for each. A whole run comes before
-- limited ones. candidate: under which number the rollouts of the step that are meant stand; not 0 in races alone.
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
    coalesce(races.candidate, 0) as candidate,
    done.status,
    newest.run_id,
    newest.limited
from plan_labels as labels
join newest on newest.spec_digest = labels.spec_digest
join specs on specs.spec_digest = labels.spec_digest
join run_steps as done on done.run_id = newest.run_id and done.step_id = labels.step_id
left join races on races.step_key = done.step_key and races.slot = labels.slot;

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
where rollouts.failure is distinct from 'not_run'
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
left join step_scores as scores on scores.step_key = steps.step_key and scores.candidate = steps.candidate
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
-- One that is `dropped` left a race: its score is over the questions on which it was run, and it stands below who was run on
-- all of them.
create or replace view candidate_scores as
with parents as (
    select
        steps.spec_digest,
        steps.arm,
        steps.family,
        steps.seed,
        case when steps.purpose = 'held_out_seed' then 0 else steps.round end as round,
        case when steps.purpose = 'parent_scoring' then 'scoring' else 'evaluation' end as split,
        any_value(scores.score) as score,
        any_value(scores.exact) as exact,
        any_value(scores.completion_rate) as completion_rate
    from labelled_steps as steps
    join step_scores as scores on scores.step_key = steps.step_key and scores.candidate = steps.candidate
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
        coalesce(races.dropped, false) as dropped,
        case when steps.purpose = 'candidate_scoring' then 'scoring' else 'evaluation' end as split,
        scores.harness_id,
        outcomes.outcome,
        coalesce(outcomes.outcome not in ('applied', 'no_change'), scores.score is null) as failed,
        case when outcomes.outcome = 'no_change' then parents.score else scores.score end as score,
        case when outcomes.outcome = 'no_change' then parents.exact else scores.exact end as exact,
        case when outcomes.outcome = 'no_change' then parents.completion_rate else scores.completion_rate end as completion_rate,
        steps.step_key
    from labelled_steps as steps
    left join step_scores as scores on scores.step_key = steps.step_key and scores.candidate = steps.candidate
    left join races on races.step_key = steps.step_key and races.slot = steps.slot
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
        and parents.split = case when steps.purpose = 'candidate_scoring' then 'scoring' else 'evaluation' end
    where steps.purpose in ('candidate_scoring', 'held_out_candidate')
)
select
    *,
    case when not failed then row_number() over (
        partition by spec_digest, arm, family, seed, round, split order by dropped, score desc nulls last, slot
    ) end as place
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
