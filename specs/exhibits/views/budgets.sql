-- What adaptation costs, and what it gives for how much of it. Needs the views of chains.sql.

-- Each step that adapts, once an arm, in the first round that uses it; measuring on held-out questions is no cost. Every
-- candidate counts its own scoring, also one that equals another and so was not run a second time.
-- solver_tokens: prompts and completions of its rollouts, also those that the reply store answered. seconds: its wall
-- time when it ran, of a race where it selects; steps run side by side, so sums exceed what a clock showed.
create or replace temporary table adapting_steps as
with

spent as (
  select
    step_key,
    candidate,
    count(distinct question_id) as questions,
    sum(prompt_tokens + completion_tokens) as tokens
  from rollouts
  where step_key in (select step_key from chain_steps)
  group by all
),

first_used as (
  select *
  from chain_steps
  where purpose in (
      'feedback', 'report', 'propose', 'parent_scoring', 'candidate_scoring', 'reward', 'select'
    )
  qualify row_number() over (
      partition by spec_digest, arm, family, seed, step_key, if(purpose = 'candidate_scoring', [round, slot], null)
      order by round, purpose <> 'feedback', slot, purpose
    ) = 1
)

select
  l.spec_digest,
  l.arm,
  l.family,
  l.seed,
  l.chain,
  l.round,
  l.slot,
  l.purpose,
  l.step_key,
  if(l.purpose = 'feedback', s.questions, 0) as feedback_questions,
  coalesce(s.tokens, 0) as solver_tokens,
  coalesce(c.prompt_tokens + c.completion_tokens, 0) as proposer_tokens,
  if(t.kind = 'race' and l.purpose <> 'select', 0, coalesce(t.seconds, 0)) as seconds
from first_used as l
left join spent as s
  on s.step_key = l.step_key
  and s.candidate = l.candidate
  and l.purpose <> 'select'
left join candidates as c
  on c.step_key = l.step_key
left join steps as t
  on t.step_key = l.step_key;

-- What an arm has used by the end of its round t (0: nothing yet). An arm without rounds uses nothing.
create or replace temporary table budgets as
with

by_round as (
  select
    spec_digest,
    arm,
    family,
    seed,
    chain,
    round + 1 as round,
    sum(feedback_questions) as feedback_questions,
    sum(solver_tokens) as solver_tokens,
    sum(proposer_tokens) as proposer_tokens,
    sum(seconds) as seconds
  from adapting_steps
  group by all
),

proposed as (
  select
    spec_digest,
    arm,
    family,
    seed,
    round + 1 as round,
    count(*) as proposals
  from chain_proposals
  group by all
),

started as (
  select distinct
    spec_digest,
    arm,
    family,
    seed,
    chain,
    0 as round
  from chain_rounds
)

select
  spec_digest,
  arm,
  family,
  seed,
  chain,
  round,
  sum(coalesce(proposals, 0)) over so_far as proposals,
  sum(coalesce(feedback_questions, 0)) over so_far as feedback_questions,
  sum(coalesce(solver_tokens, 0)) over so_far as solver_tokens,
  sum(coalesce(proposer_tokens, 0)) over so_far as proposer_tokens,
  sum(coalesce(seconds, 0)) over so_far as seconds
from (
  select *
  from by_round
  union all by name
  select *
  from started
)
left join proposed
  using (spec_digest, arm, family, seed, round)
window so_far as (partition by spec_digest, arm, family, seed order by round);

-- What an arm is worth after n of its proposals, and what it has then used. An arm of several rounds: after each round.
-- An arm of one round: for every n, in expectation over which n of its proposals were made (exact, not sampled); its
-- tokens grow evenly with n behind what the feedback and the parent's scores take. selected: what the scoring questions
-- choose. mean: of the n proposals. best: of them, an oracle's choice. n = 0 is the first harness.
create or replace temporary table proposal_curves as
with

arms as (
  select
    spec_digest,
    arm,
    family,
    seed,
    chain,
    max(round) as rounds,
    max(proposals) as proposals
  from budgets
  group by all
),

after_rounds as (
  select
    spec_digest,
    b.arm,
    b.family,
    b.seed,
    b.chain,
    b.proposals,
    b.solver_tokens + b.proposer_tokens as tokens,
    r.em as selected,
    if(count(p.em) = count(*), avg(p.em order by p.round, p.slot), null) as mean,
    if(count(p.em) = count(*), max(p.em), null) as best
  from budgets as b
  join arms as a
    using (spec_digest, arm, family, seed)
  join chain_rounds as r
    using (spec_digest, arm, family, seed, round)
  left join chain_proposals as p
    on p.spec_digest = b.spec_digest
    and p.arm = b.arm
    and p.family = b.family
    and p.seed = b.seed
    and p.round < b.round
  where a.rounds <> 1
    or b.round = 0
  group by
    spec_digest,
    b.arm,
    b.family,
    b.seed,
    b.chain,
    b.proposals,
    b.solver_tokens,
    b.proposer_tokens,
    r.em
),

-- The proposals of one round by what chooses among them: place 1 is chosen last, place k first.
ranked as (
  select
    p.*,
    row_number() over (mine order by if(p.harness_id is null, null, p.dev) nulls first, p.slot desc) as selected_place,
    row_number() over (mine order by p.em nulls first) as best_place,
    count(*) over mine as k,
    count(p.em) over mine = count(*) over mine as known
  from chain_proposals as p
  join arms as a
    using (spec_digest, arm, family, seed)
  where a.rounds = 1
  window mine as (partition by p.spec_digest, p.arm, p.family, p.seed)
),

sizes as (
  select
    spec_digest,
    arm,
    family,
    seed,
    chain,
    proposals as k,
    unnest(range(1, proposals::bigint + 1)) as n
  from arms
  where rounds = 1
),

-- How likely the proposal at a place is the highest of n drawn from k: (place - 1 over n - 1) / (k over n).
expected as (
  select
    spec_digest,
    r.arm,
    r.family,
    r.seed,
    z.chain,
    z.n,
    sum(r.em * (r.selected_place >= z.n)::integer * exp(
      lgamma(greatest(r.selected_place, z.n)) - lgamma(greatest(r.selected_place, z.n) - z.n + 1) - lgamma(z.n)
      - lgamma(z.k + 1) + lgamma(z.n + 1) + lgamma(z.k - z.n + 1)
    ) order by r.slot) as selected,
    avg(r.em order by r.slot) as mean,
    sum(r.em * (r.best_place >= z.n)::integer * exp(
      lgamma(greatest(r.best_place, z.n)) - lgamma(greatest(r.best_place, z.n) - z.n + 1) - lgamma(z.n)
      - lgamma(z.k + 1) + lgamma(z.n + 1) + lgamma(z.k - z.n + 1)
    ) order by r.slot) as best
  from sizes as z
  join ranked as r
    using (spec_digest, arm, family, seed)
  where r.known
  group by all
),

spent as (
  select
    spec_digest,
    arm,
    family,
    seed,
    sum(solver_tokens + proposer_tokens) filter (where slot is null) as before,
    sum(solver_tokens + proposer_tokens) filter (where slot is not null) as by_proposals
  from adapting_steps
  group by all
)

select *
from after_rounds
union all by name
select
  spec_digest,
  z.arm,
  z.family,
  z.seed,
  z.chain,
  z.n as proposals,
  coalesce(s.before, 0) + coalesce(s.by_proposals, 0) * z.n / z.k as tokens,
  e.selected,
  e.mean,
  e.best
from sizes as z
left join expected as e
  using (spec_digest, arm, family, seed, n)
left join spent as s
  using (spec_digest, arm, family, seed);
