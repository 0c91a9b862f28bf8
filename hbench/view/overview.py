"""What there is to trace: counts and examples, the arms of a spec, the rollouts of a step or on a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hbench.view.ids import candidate_address, rollout_address
from hbench.view.placed import COLUMNS, PLACED
from hbench.view.reading import Asked


@dataclass(frozen=True)
class Overview:
    """counts: harnesses, candidates, rollouts, trajectories. examples: sort -> one address of it, where there is any."""

    specs: tuple[str, ...]
    counts: Mapping[str, int]
    examples: Mapping[str, str]


def overview(reading: Asked) -> Overview:
    """Of all that is in the results."""
    specs = [name for (name,) in reading.query("select distinct name from specs order by name").rows]
    counts = reading.rows(_COUNTS)[0]
    found = {"SPEC": next(iter(specs), None), **reading.rows(_EXAMPLES)[0]}
    examples = {}
    if found["SPEC"]:
        examples["SPEC"] = found["SPEC"]
    if found["candidate"]:
        examples["STEP.CANDIDATE"] = candidate_address(found["candidate"]["step_key"], found["candidate"]["candidate"])
    for sort, name in (("rollout", "STEP/QUESTION"), ("trajectory", "STEP/QUESTION, turn by turn")):
        if one := found[sort]:
            examples[name] = rollout_address(one["step_key"], one["candidate"], one["question_id"], one["repeat"])
    for sort, name in (("harness", "HARNESS"), ("question", "QUESTION")):
        if found[sort]:
            examples[name] = found[sort][:8]
    return Overview(tuple(specs), counts, examples)


_COUNTS = """
select
  (select count(distinct harness_id) from harnesses) as harnesses,
  (select count(*) from candidates) as candidates,
  (select count(*) from rollouts) as rollouts,
  (select count(*) from trajectories) as trajectories
"""

_EXAMPLES = """
select
  (select {step_key: step_key, candidate: candidate} from candidates
   order by outcome = 'applied' desc, step_key, candidate limit 1) as candidate,
  (select {step_key: step_key, candidate: candidate, question_id: question_id, repeat: repeat} from rollouts
   order by calls desc, step_key, candidate, question_id, repeat limit 1) as rollout,
  (select {step_key: step_key, candidate: 0, question_id: question_id, repeat: repeat} from trajectories
   order by replaced desc, step_key, question_id, repeat limit 1) as trajectory,
  (select harness_id from rollouts group by harness_id order by count(*) desc, harness_id limit 1) as harness,
  (select question_id from rollouts group by question_id order by count(*) desc, question_id limit 1) as question
"""


@dataclass(frozen=True)
class Arm:
    """One arm, family and seed of a spec. rounds: how many. score: held out, of its last harness; None where it was not measured.

    held_out_key: the step that measured it.
    """

    spec_digest: str
    spec: str
    arm: str
    family: str
    seed: int
    rounds: int
    held_out_key: str | None
    score: float | None

    @property
    def of_arm(self) -> tuple[str, str, str, int]:
        return self.spec_digest, self.arm, self.family, self.seed


def arms(reading: Asked, specs: Sequence[str]) -> tuple[Arm, ...]:
    """Every arm, family and seed of the specs of those names."""
    return tuple(Arm(**row) for row in reading.rows(_ARMS, [list(specs)]))


_ARMS = f"""
with placed as (select distinct done.step_key, {COLUMNS} {PLACED} where sp.name in (select unnest(?))),

found as (
  select
    spec_digest,
    spec,
    arm,
    family,
    seed,
    count(distinct round) filter (purpose in ('parent_scoring', 'evolve_act')) as rounds,
    max(step_key) filter (purpose = 'held_out') as held_out_key
  from placed
  group by all
)
select
  found.*,
  (select avg(score) from rollouts where step_key = found.held_out_key) as score
from found
order by spec, spec_digest, arm, family, seed
"""


def rollouts_of(reading: Asked, narrowed: Sequence[str], values: Sequence[Any], most: int) -> list[dict[str, Any]]:
    """Rollouts that meet the conditions, at most `most`, what went wrong first; with their question and whether it has turns."""
    where = " and ".join(narrowed)
    return reading.rows(_ROLLOUTS.format(where=where), [*values, most])


_ROLLOUTS = """
select
  r.*,
  q.text as question,
  t.turns,
  t.replaced
from (
  select * from rollouts as r where {where} order by score, failure nulls last, step_key, candidate, question_id, repeat limit ?
) as r
left join questions as q using (question_id)
left join trajectories as t using (step_key, question_id, repeat)
order by r.score, r.failure nulls last, r.step_key, r.candidate, r.question_id, r.repeat
"""
