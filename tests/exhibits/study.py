"""A small finished study, made by hand: what was measured, and the same as rows of a real database."""

import datetime
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hbench.core.digest import digest, text_digest

QUESTIONS = 4


@dataclass(frozen=True)
class Trial:
    """One proposal. outcome: applied, no_change, or the error's name. dev, held: question -> (score, exact), if it ran.

    text: of its harness. terms: of its reward, each of weight 0.5. events: (kind, sent, received) of every rollout, which
    ends with `answer`.
    """

    outcome: str
    dev: dict[str, tuple[float, float]] = field(default_factory=dict)
    held: dict[str, tuple[float, float]] = field(default_factory=dict)
    text: str = ""
    terms: dict[str, float] = field(default_factory=dict)
    events: tuple[tuple[str, str, str], ...] = ()
    answer: str = ""


@dataclass(frozen=True)
class Point:
    """One arm in one family with one seed. rounds: the trials of each; chosen: the slot adopted after each, -1 the parent.

    prompts: reports that a round's trials answer in turn. text: of the first harness. wording: of its questions.
    """

    arm: str
    family: str
    seed: int
    seed_dev: dict[str, tuple[float, float]]
    seed_held: dict[str, tuple[float, float]]
    rounds: tuple[tuple[Trial, ...], ...] = ()
    chosen: tuple[int, ...] = ()
    evaluate_all: bool = True
    spec: str = ""
    prompts: int = 1
    text: str = ""
    wording: str = ""

    def after(self, t: int) -> tuple[dict, dict]:
        """dev and held-out grades of the harness after t rounds."""
        if t == 0:
            return self.seed_dev, self.seed_held
        slot = self.chosen[t - 1]
        return self.after(t - 1) if slot < 0 else (self.rounds[t - 1][slot].dev, self.rounds[t - 1][slot].held)

    @property
    def digest(self) -> str:
        return self.spec or f"{self.family}-{self.seed}".ljust(64, "0")


def grades(draw: random.Random, family: str, role: str) -> dict[str, tuple[float, float]]:
    """Made-up grades of each question of a family's split."""
    scores = [draw.choice([0.0, 0.0, 0.25, 0.5, 1.0]) for _ in range(QUESTIONS)]
    return {f"{family}/{role}/{i}": (score, float(score == 1.0)) for i, score in enumerate(scores)}


def trial(draw: random.Random, family: str) -> Trial:
    outcome = draw.choice(["applied", "applied", "applied", "no_change", "search_not_found"])
    if outcome != "applied":
        return Trial(outcome)
    return Trial(outcome, grades(draw, family, "dev"), grades(draw, family, "held"))


def scored(family: str, dev: float, held: float, **more: Any) -> Trial:
    """An edit that applies, whose questions all score the same."""
    return Trial("applied", all_at(family, "dev", dev), all_at(family, "held", held), **more)


def all_at(family: str, role: str, score: float) -> dict[str, tuple[float, float]]:
    return {f"{family}/{role}/{i}": (score, float(score == 1.0)) for i in range(QUESTIONS)}


def points(families: tuple[str, ...] = ("maze", "sudoku", "countdown"), seeds: tuple[int, ...] = (0,)) -> list[Point]:
    """Arms seed, independent (one round of four) and sequential (three rounds of one) on each family and seed."""
    made = []
    for family in families:
        for seed in seeds:
            draw = random.Random(f"{family} {seed}")
            dev, held = grades(draw, family, "dev"), grades(draw, family, "held")
            made.append(Point("seed", family, seed, dev, held))
            for arm, rounds, slots in (("independent", 1, 4), ("sequential", 3, 1)):
                tried = tuple(tuple(trial(draw, family) for _ in range(slots)) for _ in range(rounds))
                chosen = tuple(next((i for i, x in enumerate(row) if x.held), -1) for row in tried)
                made.append(Point(arm, family, seed, dev, held, tried, chosen))
    return made


class Writer:
    """Turns points into rows: `rows[table]` is a list of dicts."""

    def __init__(self) -> None:
        self.version = "v"  # part of every key
        self.rows: dict[str, list[dict[str, Any]]] = {}

    def add(self, table: str, **row: Any) -> None:
        self.rows.setdefault(table, []).append(row)

    def run(self, spec_digest: str, ended: str = "2026-11-29", outcome: str = "finished") -> str:
        """One run of a spec that ended at noon of that day."""
        run_id = f"{spec_digest[:12]}-{ended}-{outcome}-{len(self.rows.get('runs', []))}"
        ended_at = datetime.datetime.fromisoformat(f"{ended}T12:00:00")
        self.add(
            "runs",
            run_id=run_id,
            spec_digest=spec_digest,
            started_at=ended_at - datetime.timedelta(hours=1),
            ended_at=None if outcome == "running" else ended_at,
            outcome=outcome,
            versions={"hbench": "0.1.0"},
        )
        return run_id

    def points(self, study: list[Point]) -> None:
        """Every point, and one finished run a spec."""
        runs = {each: self.run(each) for each in sorted({p.digest for p in study})}
        for each in runs:
            self.add("specs", spec_digest=each, name="study", point={})
        for point in study:
            self.point(point, runs[point.digest])

    def point(self, p: Point, run_id: str) -> None:
        step = self._steps(p, run_id)
        step("split_evaluation", value={"role": "evaluation", "asked": QUESTIONS, "got": QUESTIONS})
        self._grades(step("held_out_seed"), p.seed_held)
        self._grades(step("held_out"), p.after(len(p.rounds))[1])
        for t, trials in enumerate(p.rounds):
            parent_dev, parent_held = p.after(t)
            self._grades(step("parent_scoring", t), parent_dev)
            if p.evaluate_all:
                self._grades(step("held_out_round", t), parent_held)
            for slot, each in enumerate(trials):
                self._trial(step, p, (t, slot), each)
            self._select(step("select", t), p, t)

    def _trial(self, step: Callable[..., str], p: Point, at: tuple[int, int], each: Trial) -> None:
        self.candidate(step("propose", *at), 0, each, parent=p.text)
        asked = self.rows["plan_labels"][-1]
        report = f"{p.arm}/{at[0]}/{at[1] % p.prompts}"
        self.add("plan_edges", spec_digest=p.digest, step_id=asked["step_id"], input="report", from_step_id=report)
        self._ran(step("candidate_scoring", *at), each.dev, each)
        if p.evaluate_all:
            self._ran(step("held_out_candidate", *at), each.held, each)
        if each.terms:
            reward = step("reward", *at)
            for term, value in each.terms.items():
                self.add("reward_terms", step_key=reward, candidate=0, term=term, value=value, weight=0.5)

    def candidate(self, step_key: str, number: int, each: Trial, parent: str = "") -> None:
        applied = each.outcome == "applied"
        self.add(
            "candidates",
            step_key=step_key,
            candidate=number,
            parent_id=self._harness(parent, "parent"),
            harness_id=self._harness(each.text, "changed") if applied else None,
            outcome=each.outcome,
            parsed=applied or each.outcome == "no_change",
            applied=applied,
        )

    def _harness(self, text: str, otherwise: str) -> str:
        """Its id, and its row where it has a text."""
        if not text:
            return otherwise
        known = self.rows.setdefault("harnesses", [])
        row = {"harness_id": text_digest(text)[:16], "path": "harness.py", "text": text, "lines": text.count("\n")}
        known += [row] if row not in known else []
        return row["harness_id"]

    def _ran(self, step_key: str, graded: dict[str, tuple[float, float]], each: Trial) -> None:
        self._grades(step_key, graded, calls=len(each.events), answer=each.answer)
        told = {text_digest(text): text for _, *texts in each.events for text in texts}
        known = {row["digest"] for row in self.rows.setdefault("texts", [])}
        self.rows["texts"] += [{"digest": d, "text": text} for d, text in told.items() if d not in known]
        for question in graded:
            for position, (kind, sent, received) in enumerate(each.events):
                at = {"step_key": step_key, "candidate": 0, "question_id": question, "repeat": 0, "position": position}
                texts = {"sent_digest": text_digest(sent), "received_digest": text_digest(received)}
                self.add("events", **at, kind=kind, role="solver" if kind == "lm" else "", **texts)

    def _select(self, step_key: str, p: Point, t: int) -> None:
        self.add(
            "selections",
            step_key=step_key,
            rule="best_or_parent",
            parent_id="parent",
            chosen_id="chosen",
            parent_score=average(p.after(t)[0]),
            chosen_score=average(p.after(t + 1)[0]),
            kept_parent=p.chosen[t] < 0,
        )

    def _steps(self, p: Point, run_id: str) -> Callable[..., str]:
        def step(purpose: str, round: int | None = None, slot: int | None = None, value: Any = None) -> str:
            step_id = f"{p.digest[:12]}/{p.family}/{p.arm}/{purpose}/{round}/{slot}"
            key = digest([step_id, self.version])
            label = {"arm": p.arm, "family": p.family, "seed": p.seed, "round": round, "slot": slot, "purpose": purpose}
            self.add("plan_labels", spec_digest=p.digest, step_id=step_id, label=purpose, **label)
            self.add("run_steps", run_id=run_id, step_id=step_id, step_key=key, status="ran")
            params = {"family": {"format": p.wording}} if p.wording else {}
            self.add("steps", step_key=key, kind=purpose, version=1, params=params, value=value)
            return key

        return step

    def _grades(self, step_key: str, graded: dict[str, tuple[float, float]], **more: Any) -> None:
        for question, (score, exact) in graded.items():
            at = {"step_key": step_key, "candidate": 0, "question_id": question, "repeat": 0}
            self.add("rollouts", **at, harness_id="h", score=score, completed=True, **more)
            self.add("grades", **at, name="score", value=score)
            self.add("grades", **at, name="exact", value=exact)


def average(graded: dict[str, tuple[float, float]], grade: int = 0) -> float:
    return sum(pair[grade] for pair in graded.values()) / len(graded)


def proposals(p: Point) -> Iterator[tuple[Trial, int]]:
    """Each trial of a point with its round."""
    return ((each, t) for t, trials in enumerate(p.rounds) for each in trials)
