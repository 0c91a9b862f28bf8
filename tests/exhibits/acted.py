"""A small finished distillation, made by hand: what students did, and the same as rows of a real database."""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hbench.exhibits.exhibit import Exhibit, read, regenerate_from
from hbench.exhibits.sources import Source, count_newest_runs
from tests.exhibits.database import filled

Rows = dict[str, list[dict[str, Any]]]
LONG = 5  # turns


@dataclass(frozen=True)
class Turned:
    """One turn. tries: how often the reviewer was asked; trouble: why it had no say."""

    verdict: str = "pass"
    tries: int = 0
    trouble: str | None = None
    failure: str | None = None

    @property
    def reviewed(self) -> bool:
        return self.tries > 0 and self.trouble is None


@dataclass(frozen=True)
class Lived:
    """One rollout. shows: its patterns of behaviour. kept: of one that may train.

    request: what it asked a model, told again by others that ask the same; a reply that is `reused` took no time.
    """

    score: float
    turns: tuple[Turned, ...] = (Turned(),)
    seconds: float = 1.0
    request: str = ""
    reused: bool = False
    shows: frozenset[str] = frozenset()
    kept: bool = False


@dataclass(frozen=True)
class Arm:
    """One arm of a spec in one domain: question -> its rollouts, one a repeat; patterns: those that are looked for."""

    name: str
    domain: str
    held_out: Mapping[str, tuple[Lived, ...]]
    collected: Mapping[str, tuple[Lived, ...]] = field(default_factory=dict)
    patterns: tuple[str, ...] = ()
    student: str = "small"
    reviewer: str | None = None
    spec: str = "study"
    family: str = ""

    @property
    def rollouts(self) -> list[Lived]:
        return [one for tried in self.held_out.values() for one in tried]


def once(scores: Mapping[str, float], **more: Any) -> dict[str, tuple[Lived, ...]]:
    """question -> one rollout of that score."""
    return {question: (Lived(score, **more),) for question, score in scores.items()}


def exhibit_of(name: str, arms: Sequence[Arm], scenarios: Mapping[str, tuple[str, int]] | None = None, **more: Any) -> Exhibit:
    """The exhibit of these arms. scenarios: question -> its scenario and how many questions that has. more: machine."""
    rows: Rows = {}
    for table, row in _rows(arms, scenarios or {}, more.get("machine")):
        rows.setdefault(table, []).append(row)
    connection = filled(rows)
    count_newest_runs(connection)
    specs = dict.fromkeys(arm.spec for arm in arms)
    sources = [Source(spec, {spec: ""}, tuple(dict.fromkeys(a.name for a in arms if a.spec == spec))) for spec in specs]
    return regenerate_from(connection, (name, *read(name)), sources)


def value(exhibit: Exhibit, row: str, column: str) -> Any:
    return cell(exhibit, row, column).value


def cell(exhibit: Exhibit, row: str, column: str) -> Any:
    return {(cell.row, cell.column): cell for cell in exhibit.cells}[row, column]


def _rows(arms: Sequence[Arm], scenarios: Mapping[str, tuple[str, int]], machine: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    noon = datetime.datetime(2026, 11, 30, 12)
    for spec in dict.fromkeys(arm.spec for arm in arms):
        run = {"run_id": f"run {spec}", "spec_digest": spec, "outcome": "finished", "versions": {"hbench": "0.1.0"}}
        yield "runs", run | {"started_at": noon, "ended_at": noon, "machine": machine}
        yield "specs", {"spec_digest": spec, "name": spec, "plan": "distillation"}
    for question in sorted({q for arm in arms for q in (*arm.held_out, *arm.collected)}):
        scenario = dict(zip(("scenario", "scenario_size"), scenarios.get(question, ()), strict=False))
        yield "questions", {"question_id": question, "content_id": question, "meta": scenario}
    for arm in arms:
        yield from _split(arm, "evaluation", arm.held_out)
        yield from _split(arm, "training", arm.collected)
        yield from _step(arm, "held_out", arm.held_out)
        if arm.patterns:
            yield from _behaviours(arm)
        if arm.collected:
            yield from _step(arm, "collect", arm.collected)
            kept = _key(arm, "keep_trajectories")
            yield from _labelled(arm, "keep_trajectories", {"kind": "keep_trajectories"})
            for question, repeat, one in _tried(arm.collected):
                yield "kept_trajectories", {"step_key": kept, "question_id": question, "repeat": repeat, "kept": one.kept}
            yield from _trained(arm)


def _key(arm: Arm, purpose: str) -> str:
    return f"{arm.spec} {arm.domain} {arm.family} {arm.name} {purpose}"


def _tried(rollouts: Mapping[str, tuple[Lived, ...]]) -> Iterator[tuple[str, int, Lived]]:
    return ((question, repeat, one) for question, tried in rollouts.items() for repeat, one in enumerate(tried))


def _labelled(arm: Arm, purpose: str, step: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    key = _key(arm, purpose)
    label = {"spec_digest": arm.spec, "step_id": key, "arm": arm.name, "family": arm.family or arm.domain, "seed": 0}
    yield "plan_labels", label | {"purpose": purpose, "label": purpose}
    yield "run_steps", {"run_id": f"run {arm.spec}", "step_id": key, "step_key": key, "status": "ran"}
    yield "steps", {"step_key": key, **step}


def _step(arm: Arm, purpose: str, rollouts: Mapping[str, tuple[Lived, ...]]) -> Iterator[tuple[str, dict[str, Any]]]:
    key = _key(arm, purpose)
    yield from _labelled(arm, purpose, {"kind": "act", "params": {"domain": {"kind": arm.domain}}})
    for role, model in (("student", arm.student), ("reviewer", arm.reviewer)):
        if model:
            yield "models", {"step_key": key, "role": role, "model": model, "engine": "openai http://host:1/v1"}
    for question, repeat, one in _tried(rollouts):
        at = {"step_key": key, "question_id": question, "repeat": repeat}
        tokens = {"completion_tokens": 7, "seconds": one.seconds}
        yield "rollouts", at | {"score": one.score, "completed": one.score > 0, **tokens}
        asked = {"kind": "lm", "role": "reviewer", "request_id": one.request or str(at), "reused": one.reused}
        yield "events", at | asked | {"position": 0, "completion_tokens": 3, "seconds": 0.0 if one.reused else 0.5}
        for turn, its in enumerate(one.turns):
            told = {"verdict": its.verdict, "tries": its.tries, "trouble": its.trouble, "failure": its.failure}
            yield "turns", at | {"turn": turn} | told


def _split(arm: Arm, role: str, questions: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    if listed := list(questions):
        yield from _labelled(arm, f"split_{role}", {"kind": "split"})
        key = _key(arm, f"split_{role}")
        yield from (("split_questions", {"step_key": key, "position": i, "question_id": q}) for i, q in enumerate(listed))


def _trained(arm: Arm) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of those that were kept; of a rollout with more than LONG turns none is made."""
    key = _key(arm, "trajectory_rows")
    yield from _labelled(arm, "trajectory_rows", {"kind": "trajectory_rows"})
    for question, repeat, one in _tried(arm.collected):
        if one.kept:
            at = {"step_key": key, "question_id": question, "repeat": repeat, "tokens_trained": 10 * len(one.turns)}
            yield "kept_trajectories", at | {"kept": len(one.turns) <= LONG}


def _behaviours(arm: Arm) -> Iterator[tuple[str, dict[str, Any]]]:
    key = _key(arm, "behaviours")
    yield from _labelled(arm, "behaviours", {"kind": "behaviours"})
    for question, repeat, one in _tried(arm.held_out):
        for pattern in arm.patterns:
            at = {"step_key": key, "question_id": question, "repeat": repeat, "pattern": pattern}
            yield "behaviours", at | {"shown": pattern in one.shows}
