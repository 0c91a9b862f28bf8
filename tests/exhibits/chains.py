"""Chains of revisions as a results folder holds them: steps, plans and runs through the store, then folded."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hbench.core.digest import digest, text_digest
from hbench.core.harness import Harness
from hbench.core.output import Output
from hbench.exhibits.exhibit import Exhibit, read, regenerate_from
from hbench.exhibits.sources import Source, count_newest_runs
from hbench.store.artifacts import StepRecord, Store
from hbench.store.database import fold
from hbench.store.query import open_read_only

HELD, SCORING, FEEDBACK = 6, 4, 2  # questions
DOCUMENTS = 3  # a search gives
SEED = "def run(question, tools):\n    return tools.lm(str(tools.search(question)))\n"


@dataclass(frozen=True)
class Proposal:
    """text: of its harness, None after a failed edit. dev, held: exact match of each question."""

    text: str | None
    dev: tuple[float, ...] = ()
    held: tuple[float, ...] = ()


@dataclass(frozen=True)
class Chain:
    """One arm in one family and chain, under best_candidate. seed_dev: one score a round, of that round's parent."""

    family: str
    arm: str
    chain: int
    seed: Proposal
    rounds: tuple[tuple[Proposal, ...], ...] = ()
    evaluate_all: bool = True

    @cached_property
    def harnesses(self) -> list[Proposal]:
        """The harness after each round, the first one before."""
        found = [self.seed]
        for proposals in self.rounds:
            ran = [p for p in proposals if p.text is not None]
            found.append(max(ran, key=lambda p: average(p.dev)) if ran else found[-1])  # the earliest of equals
        return found

    def worth(self, round_: int, proposal: Proposal) -> float:
        """EM on held-out questions: a failed edit keeps its parent's."""
        return average(self.harnesses[round_].held if proposal.text is None else proposal.held)

    @property
    def spec(self) -> str:
        return digest([self.family, self.chain])


def average(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def study(families: Sequence[str] = ("musique",), chains: int = 4, rounds: int = 3, slots: int = 2) -> list[Chain]:
    """Arms seed, rl (rounds of slots) and independent (one round of as many) in every family and chain."""
    made = []
    for family in families:
        for chain in range(chains):
            draw = random.Random(f"{family} {chain}")
            seed = Proposal(SEED, graded(draw, SCORING), graded(random.Random(family), HELD))
            made.append(Chain(family, "seed", chain, seed))
            for arm, shape in (("rl", [slots] * rounds), ("independent", [slots * rounds])):
                tried = tuple(tuple(proposal(draw) for _ in range(n)) for n in shape)
                made.append(Chain(family, arm, chain, seed, tried))
    return made


def graded(draw: random.Random, n: int) -> tuple[float, ...]:
    return tuple(float(draw.random() < 0.4) for _ in range(n))


def proposal(draw: random.Random) -> Proposal:
    if draw.random() < 0.25:
        return Proposal(None)
    more = "".join(f"    found += tools.search(question + ' {draw.randrange(99)}')\n" for _ in range(draw.randrange(3)))
    text = f"def run(question, tools):\n    found = tools.search(question)\n{more}    return tools.lm(str(found))\n"
    return Proposal(text, graded(draw, SCORING), graded(draw, HELD))


def question_ids(family: str, role: str, n: int) -> list[str]:
    return [digest([family, role, i])[:16] for i in range(n)]


def supporting(question_id: str) -> list[str]:
    """Two documents; a search with `many` documents finds the first one, or both."""
    return [f"{question_id}/a", f"{question_id}/b"]


class Folder:
    """Writes chains into a results folder."""

    def __init__(self, folder: Path):
        self.store = Store(folder)
        self.put: set[str] = set()

    def fill(self, study: Sequence[Chain]) -> None:
        for spec in dict.fromkeys(chain.spec for chain in study):
            self._spec(spec, [chain for chain in study if chain.spec == spec])
        assert fold(self.store.folder).messages == ()

    def _spec(self, spec: str, arms: Sequence[Chain]) -> None:
        labels: list[dict[str, Any]] = []
        steps: dict[str, str] = {}
        for arm in arms:
            for (purpose, round_, slot), key in self._arm(arm).items():
                at = {"family": arm.family, "seed": 0, "round": round_, "slot": slot}
                labels.append({"spec_digest": spec, "step_id": key, "arm": arm.arm, **at})
                labels[-1] |= {"purpose": purpose, "label": purpose}
                steps[key] = "ran"
        told = {"name": arms[0].family, "plan": "adaptation", "file": "specs/qa.yaml", "text": "…"}
        row = {"spec_digest": spec, "point": {"chain": arms[0].chain, "family.name": arms[0].family}, **told}
        self.store.put_plan(spec, {"specs": [row], "plan_labels": labels})
        run = {"run_id": f"run-{spec[:8]}", "spec_digest": spec, "outcome": "finished", "versions": {"hbench": "0.1.0"}}
        run |= {"started_at": "2026-11-29T11:00:00", "ended_at": "2026-11-29T12:00:00"}
        with self.store.open_run(run["run_id"]) as journal:
            ended = [{"run_id": run["run_id"], "step_id": k, "step_key": k, "status": s} for k, s in steps.items()]
            journal.append({"runs": [run], "run_steps": ended})

    def _arm(self, chain: Chain) -> dict[tuple[str, int | None, int | None], str]:
        """(purpose, round, slot) -> step key."""
        family, last = chain.family, len(chain.rounds)
        made: dict[tuple[str, int | None, int | None], str] = {
            ("split_evaluation", None, None): self._split(family, "evaluation", HELD),
            ("split_scoring", None, None): self._split(family, "scoring", SCORING),
            ("held_out_seed", None, None): self._evaluate(family, "evaluation", chain.seed.text, chain.seed.held),
            ("held_out", None, None): self._held(chain, chain.harnesses[last]),
        }
        for t, proposals in enumerate(chain.rounds):
            parent = chain.harnesses[t]
            at = f"{chain.arm} {chain.chain} {t}"
            made["feedback", t, None] = self._evaluate(family, f"feedback {at}", parent.text, (1.0,) * FEEDBACK)
            made["parent_scoring", t, None] = self._evaluate(family, f"scoring {at}", parent.text, parent.dev)
            if chain.evaluate_all:
                made["held_out_round", t, None] = self._held(chain, parent)
            for slot, each in enumerate(proposals):
                made["propose", t, slot] = self._propose(f"{at} {slot} {chain.family}", each, parent)
                made["candidate_scoring", t, slot] = self._evaluate(family, f"scoring {at} {slot}", each.text, each.dev)
                if chain.evaluate_all:
                    made["held_out_candidate", t, slot] = self._held(chain, each)
            chosen = chain.harnesses[t + 1]
            made["select", t, None] = self._select(f"{at} {chain.family}", parent, chosen)
        return made

    def _step(self, what: Any, rows: dict[str, list[dict[str, Any]]], kind: str, params: Any = None) -> str:
        key = digest(what)
        if key not in self.put:
            self.put.add(key)
            note = {"documents": {"c" * 16: 5000}}
            with self.store.open(key) as part:
                part.commit(Output(None, rows), StepRecord(kind, 1, params or {}, 60.0, note))
        return key

    def _split(self, family: str, role: str, n: int) -> str:
        ids = question_ids(family, role, n)
        asked = [
            {"question_id": q, "content_id": q, "family": family, "pool_index": i, "text": f"Who was {q}?"}
            | {"answer": "x", "meta": {"supporting": supporting(q), "aliases": []}}
            for i, q in enumerate(ids)
        ]
        rows = [{"position": i, "role": role, "question_id": q} for i, q in enumerate(ids)]
        return self._step(["split", family, role], {"questions": asked, "split_questions": rows}, "split")

    def _held(self, chain: Chain, harness: Proposal) -> str:
        return self._evaluate(chain.family, "evaluation", harness.text, harness.held)

    def _evaluate(self, family: str, role: str, text: str | None, scores: Sequence[float]) -> str:
        """Each rollout searches and asks once, by what the harness's text holds, and uses 100 + 10 x place tokens."""
        if text is None:
            return self._step(["nothing", role, family], {}, "evaluate")
        harness = Harness.of(text)
        rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ("rollouts", "grades", "events", "texts")}
        for i, (question, em) in enumerate(zip(question_ids(family, role, len(scores)), scores, strict=True)):
            at = {"question_id": question, "repeat": 0}
            tokens = {"prompt_tokens": 90 + 10 * i, "completion_tokens": 10}
            rows["rollouts"].append(at | {"harness_id": harness.id, "score": em, "completed": True, **tokens})
            rows["grades"] += [at | {"name": "em", "value": em}, at | {"name": "f1", "value": 0.5 + em / 2}]
            _events(rows, at, text.count("search("))
        rows["harnesses"] = [{"harness_id": harness.id, "path": "harness.py", "text": text, "lines": text.count("\n")}]
        params = {"family": {"name": family, "libraries": {"corpus": "c" * 16}}}
        return self._step(["evaluate", family, role, text, list(scores)], rows, "evaluate", params)

    def _propose(self, at: str, made: Proposal, parent: Proposal) -> str:
        row = {"parent_id": Harness.of(parent.text or "").id, "prompt_tokens": 900, "completion_tokens": 100}
        row |= {"harness_id": made.text and Harness.of(made.text).id, "outcome": "applied" if made.text else "no_block"}
        return self._step(["propose", at], {"candidates": [row]}, "propose")

    def _select(self, at: str, parent: Proposal, chosen: Proposal) -> str:
        row = {"rule": "best_candidate", "kept_parent": False}
        for name, harness in (("parent", parent), ("chosen", chosen)):
            row |= {f"{name}_id": Harness.of(harness.text or "").id, f"{name}_score": average(harness.dev)}
        return self._step(["select", at], {"selections": [row]}, "select")


def _events(rows: dict[str, list[dict[str, Any]]], at: dict[str, Any], searches: int) -> None:
    """The k-th search gives the question's k-th supporting document among others; one request shows all titles."""
    import json

    wanted, titles, told = supporting(at["question_id"]), [], []
    for k in range(searches):
        found = [*wanted[k : k + 1], *(f"other {k} {i}" for i in range(DOCUMENTS))][:DOCUMENTS]
        titles += found
        sent = {"query": f"about {at['question_id']} {k}", "top_k": DOCUMENTS}
        told.append(("search", "", sent, [{"id": d, "title": d} for d in found]))
    told.append(("lm", "solver", [{"role": "user", "content": "\n".join(titles)}], "an answer"))
    for position, (kind, role, *texts) in enumerate(told):
        sent, received = (t if isinstance(t, str) else json.dumps(t) for t in texts)
        digests = {"sent_digest": text_digest(sent), "received_digest": text_digest(received)}
        rows["events"].append(at | {"position": position, "kind": kind, "role": role} | digests)
        rows["texts"] += [{"digest": text_digest(t), "text": t} for t in (sent, received)]


def regenerated(name: str, folder: Path, study: Sequence[Chain]) -> Exhibit:
    """The exhibit of a filled folder, each family a spec file of its own, swept over chains."""
    connection = open_read_only(folder, 5.0)
    try:
        count_newest_runs(connection)
        families = dict.fromkeys(chain.family for chain in study)
        return regenerate_from(connection, (name, *read(name)), [_source(f, study) for f in families])
    finally:
        connection.close()


def _source(family: str, study: Sequence[Chain]) -> Source:
    mine = [chain for chain in study if chain.family == family]
    arms = tuple(dict.fromkeys(chain.arm for chain in mine))
    return Source(f"adaptation/{family}", {chain.spec: "" for chain in mine}, arms)
