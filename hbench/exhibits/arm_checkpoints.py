"""Which trained model each arm of some specs uses, under a name of its own."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hbench.store.checkpoint import TrainedStep, read_trained


@dataclass(frozen=True)
class ArmCheckpoints:
    """steps: name -> training step, each step once. of_arm: arm -> the name of what it uses; no arm without one."""

    steps: Mapping[str, TrainedStep] = field(default_factory=dict)
    of_arm: Mapping[str, str] = field(default_factory=dict)

    def without(self, names: Container[str]) -> "ArmCheckpoints":
        """All but those called so."""
        steps = {name: step for name, step in self.steps.items() if name not in names}
        return ArmCheckpoints(steps, {arm: name for arm, name in self.of_arm.items() if name not in names})


def arm_checkpoints(connection: Any, results: Path, arms: Sequence[str]) -> ArmCheckpoints:
    """What the chosen runs trained for each arm, in the order of `arms`: the last one of each chain of training steps.

    A step that several arms use has the name of the first. Where an arm has several steps (a sweep over seeds), the
    names have a number behind them, in the order of seeds. Needs `published_runs`; see store/bundle_rows.py.
    """
    found: dict[str, list[str]] = {}
    for arm, key in connection.execute(_LAST).fetchall():
        found.setdefault(arm, []).append(key)
    steps: dict[str, TrainedStep] = {}
    named: dict[str, str] = {}  # step key -> name
    of_arm: dict[str, str] = {}
    for arm in dict.fromkeys(arms):
        keys = found.get(arm, [])
        for number, key in enumerate(keys, 1):
            own = arm if len(keys) == 1 else f"{arm}-{number}"
            if key not in named and (step := read_trained(results / "steps" / key[:2] / key)):
                named[key] = own if own not in steps else f"{own}-{key[:8]}"
                steps[named[key]] = step
            if key in named:
                of_arm[own] = named[key]
    return ArmCheckpoints(steps, of_arm)


# Training steps of an arm from which no other training step of that arm goes on.
_LAST = """
with
trained as (
  select
    l.spec_digest,
    l.arm,
    l.seed,
    l.step_id,
    s.step_key
  from published_runs as r
  join plan_labels as l
    using (spec_digest)
  join run_steps as d
    on d.run_id = r.run_id
    and d.step_id = l.step_id
  join steps as s
    on s.step_key = d.step_key
  where d.status in ('ran', 'cached')
    and (s.value -> '$.checkpoint.sha256') is not null
)

select
  t.arm,
  t.step_key
from trained as t
where not exists (
  select 1
  from plan_edges as e
  join trained as further
    on further.spec_digest = e.spec_digest
    and further.step_id = e.step_id
  where e.spec_digest = t.spec_digest
    and e.from_step_id = t.step_id
    and further.arm = t.arm
)
group by all
order by
  t.arm,
  min(t.seed),
  min(t.spec_digest),
  t.step_key
"""
