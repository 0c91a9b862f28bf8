-- What students did on held-out questions, and on training questions where trajectories were collected.
-- Sums of fractions have an order, else their last digits would change from one reading to the next.

-- The act steps behind it. domain: its kind. student, reviewer: by their weights; an agent from outside is no student.
create or replace temporary table acted_steps as
select
  l.spec_digest,
  l.arm,
  l.family,
  l.seed,
  l.purpose,
  l.step_key,
  any_value(t.params ->> '$.domain.kind') as domain,
  coalesce(max(m.model) filter (where m.role = 'student'), 'outside') as student,
  coalesce(max(m.model) filter (where m.role = 'reviewer'), 'none') as reviewer
from counted_steps as l
join steps as t
  using (step_key)
left join models as m
  using (step_key)
where l.purpose in ('held_out', 'collect')
group by all;

-- One row a rollout. unit: its question; where questions come in scenarios, its scenario, of `size` questions.
-- reviewed: turns on which a reviewer had its say. asked: those on which it was asked; past_budget: those that passed because all
-- replacements were used up. first, last: whether the first and the last turn were replaced, null where not reviewed.
-- seconds: a reply from the store of replies counts with the time that it took when it was drawn; null where nobody knows it.
create or replace temporary table acted_rollouts as
with

reviews as (
  select
    step_key,
    question_id,
    repeat,
    count(*) as turns,
    count(*) filter (where tries > 0) as asked,
    count(*) filter (where tries > 0 and trouble is null) as reviewed,
    count(*) filter (where verdict = 'replace') as replaced,
    sum(tries) as tries,
    count(*) filter (where tries > 0 and trouble is not null) as troubles,
    count(*) filter (where trouble = 'budget') as past_budget,
    count(*) filter (where failure is not null) as failures,
    count(*) filter (where failure = 'unknown_tool') as unknown_tools,
    max((verdict = 'replace')::integer) filter (where turn = 0 and tries > 0 and trouble is null) as first,
    arg_max(if(tries > 0 and trouble is null, (verdict = 'replace')::integer, -1), turn) as last
  from turns
  group by all
),

drawn as (
  select
    request_id,
    avg(seconds order by step_key, question_id, repeat, position) as seconds
  from events
  where kind = 'lm'
    and not coalesce(reused, false)
  group by request_id
),

replies as (
  select
    e.step_key,
    e.question_id,
    e.repeat,
    sum(d.seconds - e.seconds order by e.position) filter (where e.reused) as saved,
    bool_or(e.reused and d.seconds is null) as untimed,
    sum(e.completion_tokens) filter (where e.role = 'reviewer') as reviewer_tokens
  from events as e
  left join drawn as d
    using (request_id)
  where e.kind = 'lm'
    and e.step_key in (select step_key from acted_steps)
  group by all
)

select
  r.step_key,
  r.question_id,
  r.repeat,
  coalesce(q.meta ->> '$.scenario', r.question_id) as unit,
  coalesce((q.meta ->> '$.scenario_size')::bigint, 1) as size,
  r.score,
  r.completed::integer as completed,
  if(coalesce(e.untimed, false), null, r.seconds + coalesce(e.saved, 0)) as seconds,
  r.completion_tokens,
  coalesce(e.reviewer_tokens, 0) as reviewer_tokens,
  coalesce(v.turns, 0) as turns,
  coalesce(v.asked, 0) as asked,
  coalesce(v.reviewed, 0) as reviewed,
  coalesce(v.replaced, 0) as replaced,
  coalesce(v.tries, 0) as tries,
  coalesce(v.troubles, 0) as troubles,
  coalesce(v.past_budget, 0) as past_budget,
  coalesce(v.failures, 0) as failures,
  coalesce(v.unknown_tools, 0) as unknown_tools,
  v.first,
  nullif(v.last, -1) as last
from rollouts as r
left join questions as q
  using (question_id)
left join reviews as v
  using (step_key, question_id, repeat)
left join replies as e
  using (step_key, question_id, repeat)
where r.step_key in (select step_key from acted_steps);

-- One row a unit of an act step. score: whether all of a scenario's questions were right, null where some were not asked;
-- without scenarios the question's score. solved of tasks: the questions themselves. All but counts as means over repeats.
create or replace temporary table acted_units as
with

tried as (
  select
    step_key,
    unit,
    repeat,
    if(count(*) >= max(size), min(score), null) as score,
    sum(score order by question_id) as solved,
    count(*) as tasks,
    avg(completed) as completed,
    sum(turns) as turns,
    sum(asked) as asked,
    sum(reviewed) as reviewed,
    sum(replaced) as replaced,
    sum(tries) as tries,
    sum(troubles) as troubles,
    sum(past_budget) as past_budget,
    sum(failures) as failures,
    sum(unknown_tools) as unknown_tools,
    avg(first) as first,
    avg(last) as last
  from acted_rollouts
  group by all
)

select
  step_key,
  unit,
  avg(score order by repeat) as score,
  sum(solved order by repeat) as solved,
  sum(tasks) as tasks,
  avg(completed order by repeat) as completed,
  sum(turns) as turns,
  sum(asked) as asked,
  sum(reviewed) as reviewed,
  sum(replaced) as replaced,
  sum(tries) as tries,
  sum(troubles) as troubles,
  sum(past_budget) as past_budget,
  sum(failures) as failures,
  sum(unknown_tools) as unknown_tools,
  avg(first order by repeat) as first,
  avg(last order by repeat) as last
from tried
group by all;
