"""Cut the questions of one role from the pool of a family or a domain."""

import random
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hbench.core.digest import Json, canonical_json, derive_seed
from hbench.core.failure import StepError
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Domain, Family, Services
from hbench.core.question import Question
from hbench.parts.part import build

VERSION = 1

# Held-out questions come first, so they stay the same when the other sizes change.
ORDER = ("evaluation", "scoring", "feedback", "training")
SAME = "same_as_feedback"
WALKED_AT_MOST = 10  # times the questions asked for; past that the pool counts as used up
DRAWN_FROM = 32  # rounds that the pool of redrawn questions could serve without repeats, if there are so many
_KEPT = 32  # pools remembered; three splits of a family in one run draw its questions once


def split(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: family or domain (block), role, sizes (role -> count, scoring may be same_as_feedback), seed, allow_fewer;
    draw, most.

    Value: role, family (its name, or the domain's), questions, asked, got. Passed over: duplicates, questions whose own
    answer scores below 1, and those that a domain leaves out, saying why in meta.left_out.
    draw: {"round": what tells this round from others, "part", "parts": reports}: see `cut`; evaluation questions never
    move. most: only the first so many of the role. Raises StepError when the pool is too small (unless allow_fewer) or
    when two roles share a question.
    """
    source = "family" if "family" in params else "domain"
    pool = build("families" if source == "family" else "domains", params[source])
    sizes, draw = _sizes(params["sizes"]), params.get("draw")
    walk = _walk_of(pool, params[source], params["seed"], services)
    found = walk.first(_enough(sizes, draw))
    got, parts = sizes, draw["parts"] if draw else 1
    if len(found) < _least(sizes, parts):
        told = f"{source} {pool.name}: {walk.told()}"
        got = _smaller({**sizes, "feedback": parts * sizes["feedback"]}, len(found), params.get("allow_fewer", False), told)
        got = {**got, "feedback": max(min(1, got["feedback"]), got["feedback"] // parts)}
    roles = cut(found, got, draw and {**draw, "seed": params["seed"]})
    check_disjoint(roles)
    cut_as = "feedback" if params["role"] == "scoring" and params["sizes"].get("scoring") == SAME else params["role"]
    cut_as = f"feedback {draw['part']}" if draw and cut_as == "feedback" else cut_as
    asked, most = sizes[cut_as.split()[0]], params.get("most")
    return _output(params["role"], pool.name, roles[cut_as][:most], min(asked, most or asked))


def cut(distinct: Sequence[Question], sizes: Mapping[str, int], draw: Json = None) -> dict[str, list[Question]]:
    """role -> its questions, which no two roles share; `distinct` holds at least as many as the sizes add up to.

    With a draw, feedback and scoring questions are drawn at random from all that are not held out, for each round anew
    (so they may come again in another round), and "feedback 0", "feedback 1" … serve the reports of one round.
    """
    held_out, rest = list(distinct[: sizes["evaluation"]]), list(distinct[sizes["evaluation"] :])
    if draw is None:
        roles = {"evaluation": held_out}
        for role in ORDER[1:]:
            roles[role], rest = rest[: sizes[role]], rest[sizes[role] :]
        return roles
    kept = rest[: sizes["scoring"]] if draw.get("scoring") == "kept" else []
    rest = rest[len(kept) :]
    random.Random(derive_seed("draw", draw["seed"], draw["round"])).shuffle(rest)
    scoring, more = (kept, rest) if kept else (rest[: sizes["scoring"]], rest[sizes["scoring"] :])
    size = sizes["feedback"]
    parts = {f"feedback {i}": more[i * size :][:size] for i in range(draw["parts"])}
    return {"evaluation": held_out, "scoring": scoring, **parts}


def check_disjoint(roles: Mapping[str, Sequence[Question]]) -> None:
    """Raises StepError, with their ids, when two roles share what is asked (framing apart), or one scenario."""
    names = list(roles)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            shared = {q.content_id for q in roles[one]} & {q.content_id for q in roles[other]}
            if shared:
                raise StepError(f"{one} and {other} questions must differ, but share {', '.join(sorted(shared))}")
            if halved := sorted(_scenarios(roles[one]).items() & _scenarios(roles[other]).items()):
                scenario, size = halved[0]
                hint = f"take sizes that are multiples of {size}"
                raise StepError(f"{one} and {other} questions would share scenario {scenario}, of {size} questions: {hint}")


def _scenarios(questions: Sequence[Question]) -> dict[str, int]:
    """Name -> how many questions it has. They are one task with other data: a part of them tells of the others."""
    told = [question.meta or {} for question in questions]
    return {meta["scenario"]: meta["scenario_size"] for meta in told if "scenario" in meta}


@dataclass
class Walk:
    """One pool, walked once from its start: each question the first time it comes, if its own answer passes."""

    draw: Callable[[int, int], Sequence[Question]]
    distinct: list[Question] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    position: int = 0
    duplicates: int = 0
    failing_gold: int = 0
    left_out: Counter[str] = field(default_factory=Counter)  # reason -> how many
    ended: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def first(self, wanted: int) -> list[Question]:
        """The first `wanted` distinct questions, fewer where the pool ends or seems used up.

        Equal however far others have walked before: what lies behind the end of this search does not count.
        """
        limit = WALKED_AT_MOST * wanted
        with self.lock:
            while len(self.distinct) < wanted and not self.ended and self.position < limit:
                missing = wanted - len(self.distinct)
                self._walk(min(limit, self.position + (missing if not self.position else max(8, 2 * missing))))
            return [question for question in self.distinct if question.pool_index < limit][:wanted]

    def told(self) -> str:
        """What was met on the way, for messages."""
        left_out = "".join(f", {count} left out ({reason})" for reason, count in sorted(self.left_out.items()))
        return f"{self.position} walked, {self.duplicates} duplicates, {self.failing_gold} whose own answer fails{left_out}"

    def _walk(self, stop: int) -> None:
        drawn = self.draw(self.position, stop)
        self.ended = len(drawn) < stop - self.position
        self.position += len(drawn)
        for question in drawn:
            self._take(question)

    def _take(self, question: Question) -> None:
        gold = question.meta.get("gold_score")
        if question.content_id in self.seen:
            self.duplicates += 1
        elif gold is not None and gold < 1.0:
            self.failing_gold += 1
        elif question.meta.get("left_out"):
            self.left_out[question.meta["left_out"]] += 1
        else:
            self.distinct.append(question)
        self.seen.add(question.content_id)


_walks: OrderedDict[bytes, Walk] = OrderedDict()
_walks_lock = threading.Lock()


def _walk_of(pool: Family | Domain, block: Json, seed: int, services: Services) -> Walk:
    key = canonical_json([type(pool).__module__, block, seed])

    def draw(start: int, stop: int) -> Sequence[Question]:
        drawn = pool.questions(start, stop, seed)
        return pool.settled(drawn, services.recalculate) if hasattr(pool, "settled") else drawn

    with _walks_lock:
        walk = _walks.setdefault(key, Walk(draw))
        walk.draw = draw  # the walk outlives the run whose services drew its beginning
        _walks.move_to_end(key)
        while len(_walks) > _KEPT:
            _walks.popitem(last=False)
        return walk


def _sizes(asked: Mapping[str, Any]) -> dict[str, int]:
    return {role: 0 if asked.get(role, 0) == SAME else int(asked.get(role, 0)) for role in ORDER}


def _least(sizes: Mapping[str, int], parts: int) -> int:
    """Questions that one round needs, held-out ones included."""
    return sizes["evaluation"] + sizes["scoring"] + parts * sizes["feedback"] + sizes["training"]


def _enough(sizes: Mapping[str, int], draw: Json) -> int:
    """How far a pool is walked: for draws, well past one round's need, or to its end."""
    if draw is None:
        return _least(sizes, 1)
    return sizes["evaluation"] + DRAWN_FROM * (sizes["scoring"] + draw["parts"] * sizes["feedback"])


def _smaller(sizes: Mapping[str, int], found: int, allow_fewer: bool, told: str) -> dict[str, int]:
    """Sizes in proportion that add up to at most `found`, at least 1 where one was asked for. Raises StepError."""
    wanted, least = sum(sizes.values()), sum(size > 0 for size in sizes.values())
    if not allow_fewer or found < least:
        asked = ", ".join(f"{role} {size}" for role, size in sizes.items() if size)
        hint = "; ask for fewer or set splits.allow_fewer: true" if found >= least else ""
        raise StepError(f"{told}: {found} different questions found, {wanted} wanted ({asked}){hint}")
    spare = found - least
    return {role: 1 + spare * (size - 1) // max(1, wanted - least) if size else 0 for role, size in sizes.items()}


def _output(role: str, name: str, questions: Sequence[Question], asked: int) -> Output:
    value = {
        "role": role,
        "family": name,
        "questions": [question.to_json() for question in questions],
        "asked": asked,
        "got": len(questions),
    }
    rows = {
        "questions": [_question_row(question) for question in questions],
        "split_questions": [
            {"position": i, "role": role, "question_id": question.id} for i, question in enumerate(questions)
        ],
    }
    return Output(value, rows)


def _question_row(question: Question) -> Json:
    made = question.to_json()
    return {"question_id": made.pop("id"), **made}
