"""Which demonstrations become training rows: those that ran to their end and beat their parent."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.steps.harness import harnesses_of

VERSION = 1


def keep(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: most (shared evenly over families, then over contexts; null: all), margin, seed. inputs: `demonstrations`,
    `contexts`.

    Kept is what applied, ended by itself, ran every scoring question to completion and scored more than its parent + margin;
    a response is kept once a context. Value: kept, counts (family -> [kept, asked]), dropped (reason -> how many) and, for
    each family, best_<family>: the harness of its best kept edit, the earliest on ties, or null. Raises StepError when
    nothing is kept.
    """
    shown, contexts = inputs["demonstrations"].value["demonstrations"], inputs["contexts"].value
    family_of = {context["position"]: context["family"] for context in contexts["contexts"]}
    good, dropped = _sorted_out(shown, params["margin"])
    kept = _shared_out(good, family_of, params["most"], params["seed"])
    if not kept:
        told = ", ".join(f"{count} {reason}" for reason, count in sorted(dropped.items()))
        raise StepError(f"none of {len(shown)} demonstrations is kept: {told or 'most is 0'}")
    if len(kept) < len(good):
        dropped["more than asked for"] = len(good) - len(kept)
    counts = {family: [0, 0] for family in contexts["families"]}
    for one in shown:
        counts[family_of[one["context"]]][1] += 1
    for one in kept:
        counts[family_of[one["context"]]][0] += 1
    value = {"kept": [_told(one) for one in kept], "counts": counts, "dropped": dict(sorted(dropped.items()))}
    harnesses = harnesses_of(inputs["demonstrations"])
    for family in contexts["families"]:
        of_family = [one for one in kept if family_of[one["context"]] == family]
        best = max(of_family, key=lambda one: (one["score"], -one["candidate"]), default=None)
        value[f"best_{family}"] = harnesses[best["harness_id"]] if best else None
    return Output(value)


def _sorted_out(shown: Iterable[Json], margin: float) -> tuple[list[Json], Counter[str]]:
    """Those worth keeping, and how many are not by reason."""
    good, dropped, seen = [], Counter(), set()
    for one in shown:
        reason = _fault(one, margin)
        if reason is None and (one["context"], one["response"]) in seen:
            reason = "repeated"
        if reason:
            dropped[reason] += 1
        else:
            seen.add((one["context"], one["response"]))
            good.append(one)
    return good, dropped


def _fault(one: Json, margin: float) -> str | None:
    if not one["applied"]:
        return "not applied"
    if one["finish_reason"] != "stop":
        return "cut off"
    if one["completion_rate"] < 1:
        return "not completed"
    return None if one["score"] > one["parent_score"] + margin else "no better than the parent"


def _shared_out(good: Sequence[Json], family_of: Mapping[int, str], most: int | None, seed: int) -> list[Json]:
    """At most `most` of them, in their first order: in turn over families, in a family over its contexts, else at random."""
    if most is None or len(good) <= most:
        return list(good)
    mixed = list(good)
    random.Random(seed).shuffle(mixed)
    by_family = _groups(mixed, lambda one: family_of[one["context"]])
    families = [_in_turn(_groups(some, lambda one: one["context"])) for some in by_family]
    return sorted(_in_turn(families)[:most], key=lambda one: one["candidate"])


def _groups(shown: Iterable[Json], key: Callable[[Json], Json]) -> list[list[Json]]:
    found: dict[Json, list[Json]] = {}
    for one in shown:
        found.setdefault(key(one), []).append(one)
    return list(found.values())


def _in_turn(groups: Sequence[Sequence[Json]]) -> list[Json]:
    """The first of each group, then the second of each that has one, and so on."""
    longest = max(map(len, groups), default=0)
    return [group[i] for i in range(longest) for group in groups if i < len(group)]


def _told(one: Json) -> Json:
    return {name: one[name] for name in ("candidate", "context", "prompt", "response", "score", "parent_score")}
