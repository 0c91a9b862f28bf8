"""Which arms use a trained model: those for which it was the last to be trained."""

from dataclasses import dataclass
from typing import Any

from hbench.core.failure import HbenchError


@dataclass(frozen=True)
class CheckpointArms:
    """specs: digests of the specs in which it was trained."""

    specs: tuple[str, ...]
    arms: tuple[str, ...]


def arms_of_checkpoint(connection: Any, key: str) -> CheckpointArms | None:
    """The arms of the training step whose key begins like that; None where there is no such step.

    Needs `count_newest_runs`. Raises HbenchError where several steps begin like that, or no arm ends with this one.
    """
    trained = connection.execute(_TRAINED, {"key": key}).fetchall()
    if not trained:
        return None
    if len(keys := sorted({found for found, *_ in trained})) > 1:
        raise HbenchError(f"several checkpoints begin with {key}: {', '.join(k[:16] for k in keys)}")
    last = [(digest, arm) for _, digest, arm, goes_on in trained if not goes_on]
    if not last:
        arms = dict.fromkeys(arm for _, _, arm, _ in trained)
        raise HbenchError(f"checkpoint {key} was measured by itself in no arm: {', '.join(arms)} trained it further")
    return CheckpointArms(tuple(dict.fromkeys(d for d, _ in last)), tuple(dict.fromkeys(arm for _, arm in last)))


_TRAINED = """
with

trained as (
  select distinct
    l.spec_digest,
    l.arm,
    l.step_id,
    l.step_key
  from counted_steps as l
  join checkpoints as c
    using (step_key)
)

select
  t.step_key,
  t.spec_digest,
  t.arm,
  exists (
    select 1
    from plan_edges as e
    join trained as further
      on further.spec_digest = e.spec_digest
      and further.step_id = e.step_id
      and further.arm = t.arm
    where e.spec_digest = t.spec_digest
      and e.from_step_id = t.step_id
  ) as goes_on
from trained as t
where starts_with(t.step_key, $key)
order by all
"""
