"""What a harness asked of its tools and what came back, cut to a readable size."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hbench.core.digest import Json


CALLS = 8  # shown of one trace, half from its beginning and half from its end


def trace(events: Sequence[Mapping[str, Any]], texts: Mapping[str, str], chars: int) -> list[dict[str, Json]]:
    """{number, kind, sent, received} of the tool calls in order; in all about `chars` characters, 0 for none."""
    told = [e for e in sorted(events, key=lambda e: e["position"]) if e["kind"] in _SENT]
    told = [(number, event) for number, event in enumerate(told, 1)]
    if len(told) > CALLS:
        told = told[: CALLS // 2] + told[-CALLS // 2 :]
    size = chars // max(1, 2 * len(told))
    return [
        {
            "number": number,
            "kind": event["kind"],
            "sent": clip(_SENT[event["kind"]](texts.get(event["sent_digest"], "")), size),
            "received": clip(_RECEIVED[event["kind"]](texts.get(event["received_digest"], "")), size),
        }
        for number, event in (told if chars else [])
    ]


def clip(text: str, size: int) -> str:
    """`text` in at most `size` characters and a note: the beginning, two thirds, and the end."""
    if len(text) <= size:
        return text
    head = size * 2 // 3
    return f"{text[:head]} […{len(text) - size} characters left out…] {text[len(text) - (size - head) :]}"


def _last_message(text: str) -> str:
    value = _read(text)
    return value[-1]["content"] if isinstance(value, list) and value else text


def _query(text: str) -> str:
    value = _read(text)
    return str(value["query"]) if isinstance(value, dict) and "query" in value else text


def _printed(text: str) -> str:
    value = _read(text)
    if not isinstance(value, dict):
        return text
    return "\n".join(part for part in (value.get("stdout"), value.get("stderr")) if part) or "(printed nothing)"


def _titles(text: str) -> str:
    value = _read(text)
    if not isinstance(value, list):
        return text
    return "; ".join(str(one.get("title", "")) for one in value if isinstance(one, dict)) or "(found nothing)"


def _read(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError:
        return None


# Messages, code and replies are kept as they were said; the rest is JSON.
_SENT = {"lm": _last_message, "python": str, "search": _query}
_RECEIVED = {"lm": str, "python": _printed, "search": _titles}
