-- What each arm spent, and what the reply store spared it.
select
  spec,
  arm,
  role,
  sum(calls) as calls,
  sum(prompt_tokens) as prompt_tokens,
  sum(completion_tokens) as completion_tokens,
  sum(reused_calls) as reused_calls
from ledger
group by all
order by spec, arm, role
