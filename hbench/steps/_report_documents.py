"""Which of a question's supporting documents its searches found, and which they missed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hbench.core.digest import Json


@dataclass(frozen=True, slots=True)
class Support:
    """retrieved: {title, call, place} in the order of the question's supporting documents; missed: titles.

    call: the first call of the trace that found it; place: where it stood in that call's results, from 1.
    """

    retrieved: tuple[Mapping[str, Json], ...]
    missed: tuple[str, ...]


def supporting_documents(
    question: Json, events: Sequence[Mapping[str, Any]], texts: Mapping[str, str]
) -> Support | None:
    """None for a question without supporting documents. events: of one rollout, in any order.

    Documents are told apart by id. By title only where the family says that titles are unique: then a paragraph whose
    wording differs between two editions of a corpus is still the same document.
    """
    meta = question["meta"] or {}
    titles = meta.get("supporting_titles") or meta.get("supporting")
    if not titles:
        return None
    ids, found = meta.get("supporting", []), _first_seen(events, texts)
    retrieved, missed = [], []
    for i, title in enumerate(titles):
        names = [("id", ids[i])] if i < len(ids) else []
        names += [("title", title)] if meta.get("titles_are_unique") else []
        seen = [found[name] for name in names if name in found]
        if seen:
            call, place = min(seen)
            retrieved.append({"title": title, "call": call, "place": place})
        else:
            missed.append(title)
    return Support(tuple(retrieved), tuple(missed))


def _first_seen(
    events: Sequence[Mapping[str, Any]], texts: Mapping[str, str]
) -> dict[tuple[str, str], tuple[int, int]]:
    """("id" or "title", its value) -> (number of the call, place in its results), both from 1, of the first time."""
    seen: dict[tuple[str, str], tuple[int, int]] = {}
    for call, event in enumerate(sorted(events, key=lambda event: event["position"]), 1):
        if event["kind"] == "search":
            for place, passage in enumerate(json.loads(texts[event["received_digest"]]), 1):
                for key in ("id", "title"):
                    seen.setdefault((key, passage[key]), (call, place))
    return seen
