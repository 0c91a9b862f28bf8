"""What the rows of a study say, worked out a second time: in plain Python, without SQL and without anything of hbench."""

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

READ = {
    "runs": ("run_id", "spec_digest", "outcome", "limited"),
    "specs": ("spec_digest", "name"),
    "run_steps": ("run_id", "step_id", "step_key"),
    "plan_labels": ("spec_digest", "step_id", "arm", "family", "seed", "round", "slot", "purpose"),
    "plan_edges": ("spec_digest", "step_id", "input", "from_step_id"),
    "rollouts": ("step_key", "candidate", "question_id", "repeat", "score", "completed", "failure"),
    "candidates": ("step_key", "outcome", "parsed", "harness_id"),
    "reward_terms": ("step_key", "term", "value", "weight"),
    "steps": ("step_key", "kind", "params", "value"),
}
Tables = Mapping[str, list[dict[str, Any]]]
PAPER = {"task_score": 1.0, "parsed": 0.05, "applied": 0.10, "completed": 0.15}


def of_bundle(folder: Path, read: Mapping[str, Sequence[str]] = READ) -> Tables:
    """The tables of a published bundle, from its Parquet files. read: table -> its columns that are wanted."""
    from pyarrow.parquet import read_table

    return {name: read_table(folder / "rows" / f"{name}.parquet", columns=list(its)).to_pylist() for name, its in read.items()}


def of_results(folder: Path) -> Tables:
    """The tables of a results folder, from its database as they lie there."""
    import duckdb

    with duckdb.connect(str(folder / "hbench.duckdb"), read_only=True) as database:
        return {
            name: database.sql(f'select {", ".join(its)} from "{name}"').to_arrow_table().to_pylist()
            for name, its in READ.items()
        }


@dataclass(frozen=True)
class Proposal:
    """dev, held: its scores, or its parent's where it has none. reward_step: the key of the step that rewards it."""

    round: int
    prompt: str
    parsed: bool
    applied: bool
    failed: bool
    dev: float
    held: float
    completed: float
    terms: Mapping[str, float]
    reward_step: str


@dataclass(frozen=True)
class Point:
    """One arm of one family. final: the held-out score of its last harness, on questions `asked`."""

    spec: str
    arm: str
    family: str
    seed: int
    final: float
    asked: frozenset[str]
    rounds: int
    proposals: list[Proposal] = field(default_factory=list)


def average(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


class Study:
    """What its tables hold, found by the keys of steps. Every spec has one run, and it finished."""

    def __init__(self, tables: Tables):
        specs = {row["run_id"]: row["spec_digest"] for row in tables["runs"]}
        assert len(set(specs.values())) == len(specs) and all(row["outcome"] == "finished" for row in tables["runs"])
        self.names = {row["spec_digest"]: row["name"] for row in tables["specs"]}
        self.keys = {(specs[row["run_id"]], row["step_id"]): row["step_key"] for row in tables["run_steps"]}
        self.steps = {row["step_key"]: row for row in tables["steps"]}
        self.candidates = {row["step_key"]: row for row in tables["candidates"]}
        edges = (row for row in tables["plan_edges"] if row["input"] == "report")
        self.reports = {(row["spec_digest"], row["step_id"]): row["from_step_id"] for row in edges}
        self.rollouts, self.terms, self.arms = defaultdict(list), defaultdict(dict), defaultdict(dict)
        for row in tables["rollouts"]:
            self.rollouts[row["step_key"]].append(row)
        for row in tables["reward_terms"]:
            self.terms[row["step_key"]][row["term"]] = row["value"]
        for row in tables["plan_labels"]:
            arm = tuple(row[name] for name in ("spec_digest", "arm", "family", "seed"))
            self.arms[arm][row["purpose"], row["round"], row["slot"]] = (row["spec_digest"], row["step_id"])

    def points(self) -> list[Point]:
        """Every arm of every family that measures a harness on held-out questions."""
        found = []
        for (spec, arm, family, seed), steps in self.arms.items():
            last = self._ran(steps, "held_out", None, None)
            if last:
                made = [self._proposal(steps, *at[1:]) for at in sorted(at for at in steps if at[0] == "propose")]
                asked = frozenset(row["question_id"] for row in last)
                rounds = len({proposal.round for proposal in made})
                found.append(Point(self.names[spec], arm, family, seed, _score(last), asked, rounds, made))
        return found

    def _ran(self, steps: Mapping[tuple, tuple], *at: Any) -> list[dict]:
        return self.rollouts.get(self.keys.get(steps.get(at)), [])

    def _proposal(self, steps: Mapping[tuple, tuple], t: int, slot: int) -> Proposal:
        row, rewarded = self.candidates[self.keys[steps["propose", t, slot]]], self.keys[steps["reward", t, slot]]
        own, made = self._ran(steps, "candidate_scoring", t, slot), row["harness_id"] is not None
        held = self._ran(steps, "held_out_candidate", t, slot) if made else self._ran(steps, "held_out_round", t, None)
        return Proposal(
            round=t,
            prompt=self.reports[steps["propose", t, slot]],
            parsed=row["parsed"],
            applied=made,
            failed=not made and row["outcome"] != "no_change",
            dev=_score(own if made else self._ran(steps, "parent_scoring", t, None)),
            held=_score(held),
            completed=average([float(run["completed"]) for run in own]) if made else 0.0,
            terms=self.terms[rewarded],
            reward_step=rewarded,
        )


def _score(rollouts: Sequence[Mapping]) -> float | None:
    return average([row["score"] for row in rollouts])


# What an arm of one family is worth, and an arm over families.


def worth(point: Point, weighs: Mapping[str, float]) -> dict[str, float | None]:
    """Column of an exhibit -> its value. weighs: the reward's terms."""
    made = point.proposals
    held = [p.held for p in made]
    prompts = {(p.round, p.prompt) for p in made}
    best = [max(p.held for p in made if (p.round, p.prompt) == prompt) for prompt in sorted(prompts)]
    ok = [p.held for p in made if not p.failed]
    single = point.rounds == 1
    return {
        "score": average(held) if single else point.final,
        "selected": point.final if made else None,
        "failed_as_zero": math.fsum(ok) / len(made) if single else None,
        "failed_left_out": average(ok) if single else None,
        "oracle_best": max(held, default=None),
        "best": average(best),
        "reward": average([math.fsum(weighs[term] * value for term, value in p.terms.items()) for p in made]),
        "parsed": average([p.parsed for p in made]),
        "applied": average([p.applied for p in made]),
        "completed": average([p.completed for p in made]),
        "failed_share": average([p.failed for p in made]),
        "dev_zero_share": average([not p.failed and p.dev == 0 for p in made]),
        "failed_or_zero": average([p.failed or p.dev == 0 for p in made]),
        "idle": average([not p.failed and p.completed == 1 and p.dev == 0 for p in made]),
        "proposals": len(made) or None,
        "prompts": len(prompts) or None,
    }


def cell(values: Sequence[float]) -> tuple[float | None, int, float | None, float | None]:
    """(mean, how many, low, high) with the 95 % interval of Student's t; without one where all are equal."""
    from statistics import stdev

    from scipy.stats import t

    n, centre = len(values), average(values)
    if n < 2 or max(values) - min(values) < 1e-12:
        return centre, n, None, None
    half = float(t.ppf(0.975, n - 1)) * stdev(values) / math.sqrt(n)
    return centre, n, centre - half, centre + half


def weights(step: Mapping) -> dict[str, float]:
    """Term -> weight, of a reward step's recipe."""
    return {name: its["weight"] for name, its in json.loads(step["params"])["terms"].items()}


def terms(proposal: Proposal) -> dict[str, float]:
    """The terms of the paper's reward: of an edit that made no harness, whether it parsed and no more."""
    made = proposal.applied
    form = {"parsed": float(proposal.parsed), "applied": float(made)}
    return form | {"completed": proposal.completed if made else 0.0, "task_score": proposal.dev if made else 0.0}


def false_rewards(study: Study) -> tuple[set[str], list[str]]:
    """The reward steps that were recomputed; those whose terms or whose sum is not what the rows say."""
    seen, wrong = set(), []
    for proposal in (proposal for point in study.points() for proposal in point.proposals):
        step, found = study.steps[proposal.reward_step], terms(proposal)
        its = weights(step)
        total = math.fsum(its[name] * found[name] for name in its)
        same = proposal.terms.keys() == found.keys() == its.keys()
        same = same and math.isclose(json.loads(step["value"])["reward"], total, abs_tol=1e-12)
        if not same or any(not math.isclose(proposal.terms[name], found[name], abs_tol=1e-12) for name in found):
            wrong.append(proposal.reward_step)
        seen.add(proposal.reward_step)
    return seen, wrong
