"""The harnesses of one arm, family and seed as a tree: round by round the parent, its candidates, and what was chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hbench.view.placed import PLACED
from hbench.view.reading import Asked


@dataclass(frozen=True)
class Leaf:
    """One candidate. harness_id: None where its edit failed. score: on scoring questions; None where nothing was run.

    held_out: on evaluation questions. chosen: it went on.
    """

    step_key: str
    candidate: int
    slot: int
    harness_id: str | None
    outcome: str
    explanation: str
    score: float | None
    held_out: float | None
    chosen: bool


@dataclass(frozen=True)
class Round:
    """parent_id: None where nothing says it yet. next_id: what the next round begins with; None while the round goes on.

    sort: `selection` takes one candidate or keeps the parent; `evolution` lays every change that holds on a bank.
    """

    number: int
    sort: Literal["selection", "evolution"]
    parent_id: str | None
    score: float | None
    held_out: float | None
    leaves: tuple[Leaf, ...]
    next_id: str | None
    rule: str = ""

    @property
    def kept_parent(self) -> bool:
        return self.next_id is not None and self.next_id == self.parent_id


@dataclass(frozen=True)
class Tree:
    """rounds: by number. last: mean held-out score of the harness behind the last round; None where it was not measured."""

    rounds: tuple[Round, ...]
    last: float | None

    @property
    def last_id(self) -> str | None:
        return self.rounds[-1].next_id if self.rounds else None


def tree(reading: Asked, of_arm: tuple[str, str, str, int]) -> Tree:
    """of_arm: spec digest, arm, family and seed. Without rounds where the arm has none, or none has begun."""
    rows = reading.rows(_STEPS, list(of_arm))
    by_round: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["round"] is not None:
            by_round.setdefault(row["round"], []).append(row)
    rounds = tuple(filter(None, (_round(number, by_round[number]) for number in sorted(by_round))))
    last = next((row["score"] for row in reversed(rows) if row["purpose"] == "held_out"), None)
    return Tree(rounds, last)


_STEPS = f"""
with mine as (
  select distinct
    l.purpose,
    l.round,
    l.slot,
    done.step_key,
    coalesce(races.candidate, 0) as ran_as
  {PLACED}
  left join races on races.step_key = done.step_key and races.slot = l.slot
  where
    done.step_key is not null
    and l.spec_digest = ? and l.arm = ? and l.family = ? and l.seed = ?
    and l.purpose in ('parent_scoring', 'candidate_scoring', 'held_out_candidate', 'held_out_round', 'held_out',
                      'propose', 'select', 'evolve', 'evolve_act')
),

scores as (
  select
    step_key,
    candidate as ran_as,
    avg(score) as score,
    any_value(harness_id) as ran_id
  from rollouts
  where step_key in (select step_key from mine)
  group by step_key, candidate
)
select
  mine.* exclude (ran_as),
  scores.score,
  scores.ran_id,
  c.candidate,
  c.parent_id,
  c.harness_id,
  c.outcome,
  c.explanation,
  chosen.rule,
  chosen.chosen_id,
  coalesce(chosen.slot, (selecting.value ->> '$.slot')::bigint) as chosen_slot
from mine
left join scores using (step_key, ran_as)
left join candidates as c on c.step_key = mine.step_key and mine.purpose in ('propose', 'evolve')
left join selections as chosen on chosen.step_key = mine.step_key
left join steps as selecting on selecting.step_key = chosen.step_key
order by round nulls last, slot nulls first, candidate, step_key
"""


def _round(number: int, rows: Sequence[Mapping[str, Any]]) -> Round | None:
    of = {(row["purpose"], row["slot"]): row for row in rows}
    evolution = any(row["purpose"] in ("evolve", "evolve_act") for row in rows)
    changes = [row for row in rows if row["purpose"] in ("propose", "evolve") and row["outcome"] is not None]
    parent = of.get(("evolve_act" if evolution else "parent_scoring", None), {})
    select = of.get(("select", None), {})
    if evolution:
        leaves = tuple(_change(row) for row in changes)
        next_id = next((leaf.harness_id for leaf in leaves if leaf.chosen), None)
    else:
        leaves = tuple(_leaf(row, of, select) for row in changes)
        next_id = select.get("chosen_id")
    if not (leaves or parent or select):
        return None
    parent_id = next((row["parent_id"] for row in changes), None) or parent.get("ran_id")
    held_out = of.get(("held_out_round", None), {}).get("score")
    sort = "evolution" if evolution else "selection"
    return Round(number, sort, parent_id, parent.get("score"), held_out, leaves, next_id, select.get("rule") or "")


def _leaf(row: Mapping[str, Any], of: Mapping[tuple[str, int | None], Mapping[str, Any]], select: Mapping[str, Any]) -> Leaf:
    slot = row["slot"]
    scores = [of.get((purpose, slot), {}).get("score") for purpose in ("candidate_scoring", "held_out_candidate")]
    chosen = bool(select) and select["chosen_slot"] == slot
    return Leaf(
        row["step_key"], row["candidate"], slot, row["harness_id"], row["outcome"], row["explanation"] or "", *scores, chosen
    )


def _change(row: Mapping[str, Any]) -> Leaf:
    """One change of an evolver; those that hold make the next bank together."""
    made = row["harness_id"]
    return Leaf(
        row["step_key"],
        row["candidate"],
        row["candidate"],
        made,
        row["outcome"],
        row["explanation"] or "",
        None,
        None,
        made is not None,
    )
