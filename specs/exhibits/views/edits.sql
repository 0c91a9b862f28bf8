-- What proposals did to their parents' sources.

-- One row an edit of these specs' proposals, however often it was proposed: its harness's source, and its parent's.
create or replace temporary macro proposed_edits(specs) as table
select
  e.parent_id,
  e.harness_id,
  parent.text as before,
  made.text as after
from (
  select distinct
    c.parent_id,
    c.harness_id
  from counted_steps as l
  join candidates as c
    using (step_key)
  where l.purpose = 'propose'
    and l.spec_digest in (select unnest(specs))
    and c.harness_id is not null
) as e
join harnesses as parent
  on parent.harness_id = e.parent_id
  and parent.path = 'harness.py'
join harnesses as made
  on made.harness_id = e.harness_id
  and made.path = 'harness.py';
