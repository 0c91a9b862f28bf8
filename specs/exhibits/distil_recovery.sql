-- One row a spec, arm, domain, seed, pattern and question on which the base shows the pattern under h* and not under h (in at
-- least half of its repeats, and in fewer): whether the arm shows it, and whether a second run of the base under h does. In
-- per cent. Patterns with fewer than ten such questions are left out. Means over patterns stand beside them; with a control
-- only where every pattern in them has one.
with

shown as (
  select
    l.spec_digest,
    l.arm,
    l.family,
    l.seed,
    b.pattern,
    b.question_id,
    avg(b.shown::integer) as shown
  from counted_steps as l
  join behaviours as b
    using (step_key)
  where l.purpose = 'behaviours'
    and l.spec_digest in (select unnest($specs))
  group by all
),

kept as (
  select
    h.spec_digest,
    h.family,
    h.seed,
    h.pattern,
    h.question_id
  from shown as h
  join shown as s
    on s.spec_digest = h.spec_digest
    and s.family = h.family
    and s.seed = h.seed
    and s.pattern = h.pattern
    and s.question_id = h.question_id
  where h.arm = 'base'
    and s.arm = 'h_star'
    and h.shown < 0.5
    and s.shown >= 0.5
  qualify count(*) over (partition by h.spec_digest, h.family, h.seed, h.pattern) >= 10
),

recovered as (
  select
    k.spec_digest,
    t.arm,
    k.family,
    k.seed,
    k.pattern,
    k.family || ' ' || k.pattern as detector,
    k.question_id as question,
    100 * t.shown as recovered,
    100 * c.shown as chance,
    100 * (t.shown - c.shown) as excess
  from kept as k
  join shown as t
    on t.spec_digest = k.spec_digest
    and t.family = k.family
    and t.seed = k.seed
    and t.pattern = k.pattern
    and t.question_id = k.question_id
  left join shown as c
    on c.spec_digest = k.spec_digest
    and c.family = k.family
    and c.seed = k.seed
    and c.pattern = k.pattern
    and c.question_id = k.question_id
    and c.arm = 'base_again'
  where t.arm not in ('base', 'h_star', 'base_again')
),

rows as (
  select *
  from recovered
  union all by name
  select * replace (
    'mean of patterns' as pattern,
    if(bool_and(chance is not null) over (partition by arm, family), chance, null) as chance,
    if(bool_and(chance is not null) over (partition by arm, family), excess, null) as excess
  )
  from recovered
  union all by name
  select * replace (
    'mean of patterns' as pattern,
    'all domains' as family,
    if(bool_and(chance is not null) over (partition by arm), chance, null) as chance,
    if(bool_and(chance is not null) over (partition by arm), excess, null) as excess
  )
  from recovered
  union all by name
  -- An arm that was looked at where no pattern is kept.
  select distinct
    spec_digest,
    arm,
    'all domains' as family,
    seed,
    'mean of patterns' as pattern
  from shown
  where arm not in ('base', 'h_star', 'base_again')
)

select
  spec_digest,
  family,
  pattern,
  arm,
  seed,
  detector,
  question,
  recovered,
  chance,
  excess
from rows
order by
  family = 'all domains',
  family,
  pattern = 'mean of patterns',
  pattern,
  arm,
  question,
  seed,
  spec_digest
