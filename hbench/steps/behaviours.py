"""Which patterns of behaviour each rollout of an act step shows (Harness-Zero, table 4)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from hbench.core.digest import Json
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.core.rollout import Event
from hbench.parts.detectors._looked import ran
from hbench.parts.detectors._pattern import LONGEST
from hbench.parts.part import build
from hbench.steps._acted_rows import acted_from_rows

VERSION = 1
OUTSIDE = "outside"  # role of an agent of somebody else's


def behaviours(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: patterns (name -> block of a detector). inputs: `acted`. Nothing that trains or evolves may read what it finds.

    Value: shown (pattern -> in how many rollouts), rollouts, unseen (how many more had an agent from outside, of whom nobody
    saw what it did: they have no rows), cut (how many commands and outputs were too long, so that detectors saw their heads
    and tails alone).
    """
    made, patterns = inputs["acted"], {name: build("detectors", block) for name, block in params["patterns"].items()}
    events, rows = _executed(made), []
    shown, unseen, rollouts = dict.fromkeys(patterns, 0), 0, 0
    for acted in acted_from_rows(made):
        key = {"question_id": acted.rollout.question_id, "repeat": acted.rollout.repeat}
        mine = events.get(tuple(key.values()), [])
        if any(event.role == OUTSIDE for event in mine):
            unseen += 1
            continue
        rollouts += 1
        whole = replace(acted, rollout=replace(acted.rollout, events=tuple(mine)))
        for name, detector in patterns.items():
            found = detector.shown(whole)
            shown[name] += found
            rows.append({**key, "pattern": name, "shown": found})
    return Output({"shown": shown, "rollouts": rollouts, "unseen": unseen, "cut": _cut(events)}, {"behaviours": rows})


def _executed(made: Artifact) -> dict[tuple[str, int], list[Event]]:
    """(question id, repeat) -> the commands of a rollout with what they gave, in order."""
    those = sorted((row for row in made.rows("events") if row["kind"] == "execute"), key=lambda row: row["position"])
    wanted = {row[name] for row in those for name in ("sent_digest", "received_digest")}
    texts = {row["digest"]: row["text"] for row in made.rows("texts") if row["digest"] in wanted}
    found: dict[tuple[str, int], list[Event]] = {}
    for row in those:
        received = json.loads(texts[row["received_digest"]])
        event = Event("execute", texts[row["sent_digest"]], received, row["role"])
        found.setdefault((row["question_id"], row["repeat"]), []).append(event)
    return found


def _cut(events: Mapping[tuple[str, int], Iterable[Event]]) -> int:
    looked_at = (event for mine in events.values() for event in ran(list(mine)))
    return sum(len(text) > LONGEST for event in looked_at for text in (event.sent, event.received["output"]))
