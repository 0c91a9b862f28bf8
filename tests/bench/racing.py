"""Racing against full scoring, on recorded rollouts: how often a race picks the same harness, and at what share of the calls.

`python tests/bench/racing.py` replays every round of the published bundles (or of those named) whose best candidate is unique:
its candidates on the scoring questions, and the same on the more numerous held-out ones; whole rounds, and the proposals of
one report each, which is a round of the papers' size. Each is raced over its questions in several random orders. A call is a
rollout: one run of a harness on one question; equal harnesses count once on both sides, and the parent's rollouts not at all,
since both need them. The curve is that of `paired` over its risk; `halving` stands beside it.
"""

import argparse
import math
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from hbench.core.standing import NOISE, Standing  # noqa: E402
from hbench.parts.races.halving import Halving  # noqa: E402
from hbench.parts.races.paired import Paired  # noqa: E402

PAIRED = [Paired(risk=risk) for risk in (0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)]
HALVING = [Halving(first=first, keep=keep) for keep in (0.5, 0.75) for first in (0.125, 0.25, 0.5)]
QUESTIONS = {"scoring": ("candidate_scoring", "parent_scoring"), "held-out": ("held_out_candidate", "held_out_round")}

ROLLOUTS = """
select
  l.purpose,
  [l.spec_digest, l.arm, l.family, l.seed::varchar, l.round::varchar] as round,
  l.slot,
  r.harness_id,
  r.question_id,
  avg(r.score) as score
from plan_labels as l
join run_steps as s
  using (step_id)
join rollouts as r
  using (step_key)
where l.purpose in ('candidate_scoring', 'parent_scoring', 'held_out_candidate', 'held_out_round')
group by all
order by all
"""
REPORTS = """
select
  [l.spec_digest, l.arm, l.family, l.seed::varchar, l.round::varchar] as round,
  l.slot,
  e.from_step_id
from plan_labels as l
join plan_edges as e
  using (spec_digest, step_id)
where l.purpose = 'propose'
  and e.input = 'report'
"""


@dataclass(frozen=True)
class Round:
    """candidates: slot -> its score on each question, equal harnesses once; parent: the parent's. Same order of questions."""

    candidates: Mapping[int, Sequence[float]]
    parent: Sequence[float]

    def pick(self, of: Sequence[int]) -> int:
        """As the rule strict_improvement chooses among these: -1 is the parent."""
        best = min(of, key=lambda slot: (-math.fsum(self.candidates[slot]), slot), default=-1)
        return best if best >= 0 and self.total(best) > self.total(-1) + NOISE else -1

    def total(self, slot: int) -> float:
        return math.fsum(self.parent if slot < 0 else self.candidates[slot])

    def has_one_best(self) -> bool:
        """Two candidates or more, of which one scores more than every other and than the parent."""
        best, *rest = sorted((self.total(slot) for slot in (*self.candidates, -1)), reverse=True)
        return len(rest) >= 2 and best > rest[0] + NOISE and self.pick(tuple(self.candidates)) >= 0

    def shuffled(self, draw: random.Random) -> "Round":
        order = draw.sample(range(len(self.parent)), len(self.parent))
        return Round({slot: [s[i] for i in order] for slot, s in self.candidates.items()}, [self.parent[i] for i in order])


@dataclass(frozen=True)
class Raced:
    """lost: by how much the pick scores less than full scoring's, a question."""

    same: bool
    rollouts: int
    full: int
    lost: float


def race(one: Round, rule: Any) -> Raced:
    """The round under `rule`, as steps/race.py runs it."""
    questions, racing, ran, before = len(one.parent), tuple(one.candidates), 0, 0
    for done in (*rule.looks(questions), questions):
        ran, before = ran + len(racing) * (done - before), done
        if done < questions and racing:
            racing = tuple(rule.survivors(Standing({s: one.candidates[s][:done] for s in racing}, questions, one.parent)))
    pick, best = one.pick(racing), one.pick(tuple(one.candidates))
    return Raced(pick == best, ran, len(one.candidates) * questions, (one.total(best) - one.total(pick)) / questions)


def rounds(bundle: Path, sort: str) -> Iterator[tuple[bool, Round]]:
    """Each round of a bundle on one sort of questions (True), and the proposals of each of its reports apart (False)."""
    candidates, parents = QUESTIONS[sort]
    scores: dict[tuple, dict] = defaultdict(lambda: defaultdict(dict))
    harness: dict[tuple, str] = {}
    connection = duckdb.connect(config={"memory_limit": "1GB", "threads": 1})
    for table in ("plan_labels", "plan_edges", "run_steps", "rollouts"):
        connection.execute(f"create view {table} as select * from '{bundle}/rows/{table}.parquet'")
    for purpose, name, slot, made, question, score in connection.execute(ROLLOUTS).fetchall():
        if purpose in (candidates, parents):
            key = (tuple(name), -1 if purpose == parents else slot)
            scores[key[0]][key[1]][question], harness[key] = score, made
    reports = {(tuple(name), slot): report for name, slot, report in connection.execute(REPORTS).fetchall()}
    for name, by_slot in scores.items():
        parent = by_slot.pop(-1, None)
        if parent is None:
            continue
        groups = defaultdict(list)
        for slot in sorted(by_slot):
            groups[reports.get((name, slot))].append(slot)
        for whole, slots in [(True, sorted(by_slot)), *((False, some) for some in groups.values())]:
            first = {harness[name, slot]: slot for slot in reversed(slots)}
            kept = {slot: [by_slot[slot][q] for q in parent] for slot in sorted(first.values())}
            yield whole, Round(kept, list(parent.values()))


def told(rule: Any) -> str:
    fields = rule.model_dump(exclude={"kind"})
    return f"{rule.kind} " + ", ".join(f"{name} {value:g}" for name, value in fields.items())


def line(rule: Any, some: Sequence[Round], orders: int) -> str:
    draw = random.Random(0)
    found = [race(one.shuffled(draw), rule) for one in some for _ in range(orders)]
    differ = [one.lost for one in found if not one.same]
    share = sum(one.rollouts for one in found) / sum(one.full for one in found)
    loss = sum(differ) / len(differ) if differ else 0.0
    same = sum(one.same for one in found) / len(found)
    return f"  {told(rule):<34} {100 * same:>7.1f} % {100 * share:>7.1f} % {loss:>10.3f} {sum(differ) / len(found):>10.4f}"


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("bundles", nargs="*", type=Path, help="folders of published bundles; default: those of results/published")
    words.add_argument("--orders", type=int, default=10, help="random orders of the questions, each round")
    chosen = words.parse_args()
    bundles = chosen.bundles or [f.parent for f in sorted((ROOT / "results/published").glob("*/bundle.json"))]
    bundles = [bundle for bundle in bundles if (bundle / "rows/candidates.parquet").exists()]
    for sort in QUESTIONS:
        every = [found for bundle in bundles for found in rounds(bundle, sort)]
        for whole, name in ((True, "whole rounds"), (False, "the proposals of one report")):
            some = [one for is_whole, one in every if is_whole == whole and one.has_one_best()]
            if not some:
                continue
            candidates = sum(len(one.candidates) for one in some) / len(some)
            asked = sum(len(one.parent) for one in some) / len(some)
            print(f"\n{sort} questions, {name}: {len(some)} of {sum(w == whole for w, _ in every)} have one best candidate; "
                  f"{candidates:.1f} harnesses on {asked:.0f} questions each")  # fmt: skip
            print(f"  {'rule':<34} {'same pick':>9} {'calls':>9} {'loss there':>10} {'loss of all':>11}")
            for rule in (*PAIRED, *HALVING):
                print(line(rule, some, chosen.orders), flush=True)


if __name__ == "__main__":
    main()
