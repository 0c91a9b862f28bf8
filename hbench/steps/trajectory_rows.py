"""Kept trajectories as token rows: accepted responses carry loss, and what a reviewer thought aloud may not."""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.core.training import Talk, TurnTokens
from hbench.core.trajectory import Acted, conversation_json
from hbench.core.voice import without_loss
from hbench.steps._kept import Kept, kept_acted, row_fault, told, write_lines
from hbench.steps.run_setting import model_ref

VERSION = 3  # 3: no end is taught of what was cut
FILE = "rows.jsonl"
NO_LOSS = -100


def trajectory_rows(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: model (the student), hide (voice, reasoning or none), loss_weights (session or token), rare (how many times
    more a replaced turn weighs), max_length, seed (order of the sessions). inputs: `acted_…` and `kept_…`, of one domain
    each.

    File rows.jsonl: {"input_ids", "labels", "weights", "group"} a line; labels are -100 off accepted responses, on what is
    hidden, and on the end of one that the student did not end: it was passed as its limit of tokens had cut it. The weights
    of a session sum to 1, or those of a token to `rare` or 1. A session is one row, or one row a turn where the chat
    template rewrites what was said before. A session of which a row has more than max_length tokens is dropped, never cut
    (too_long), and so is one that the template would shift (chat_template). Rows of kept_trajectories say so. Value: rows,
    sessions, turn_by_turn (sessions), dropped, told, tokens, trained_tokens, longest, file. Raises StepError when no session is left, and when the template would shift most of them: those left are
    no fair share, but sessions without a replacement, say.
    """
    kept = kept_acted(inputs)
    talks = [_talk(one, params["hide"]) for one in kept]
    sessions, rows, dropped, refused = [], [], Counter(), ""
    for one, talk, found in zip(kept, talks, services.tokenise_turns(model_ref(params["model"]), talks), strict=True):
        reason = row_fault(found, params["max_length"])
        rows.append(_kept_row(one.acted, found, reason))
        if reason:
            dropped[reason] += 1
            refused = found if isinstance(found, str) else refused
        else:
            sessions.append(_Session(found, _weights(one.acted, talk, found, params)))
    why = told(dropped) + (f" ({refused})" if refused else "")
    if not sessions:
        raise StepError(f"no training row is left of {len(kept)} trajectories: {why}")
    if dropped["chat_template"] > len(kept) / 2:
        raise StepError(f"{dropped['chat_template']} of {len(kept)} trajectories cannot be trained on: {refused}")
    random.Random(params["seed"]).shuffle(sessions)
    file = services.part.folder / "sft" / FILE
    write_lines(file, _lines(sessions))
    made = [row for session in sessions for row in session.rows]
    value = {
        "rows": len(made),
        "sessions": len(sessions),
        "turn_by_turn": sum(len(session.rows) > 1 for session in sessions),
        "dropped": dict(sorted(dropped.items())),
        "told": why,
        "tokens": sum(len(row.ids) for row in made),
        "trained_tokens": sum(map(_trained, made)),
        "longest": max(len(row.ids) for row in made),
        "file": FILE,
    }
    return Output(value, {"kept_trajectories": rows}, {FILE: file})


@dataclass(frozen=True)
class _Session:
    """weights: of each token of each row."""

    rows: Sequence[TurnTokens]
    weights: Sequence[Sequence[float]]


def _talk(kept: Kept, hide: str) -> Talk:
    """The conversation as the student lived it; each accepted response is to be trained."""
    places = _places(kept.acted)
    turns = kept.acted.trajectory.turns
    hidden = {place: without_loss(turn, hide) for place, turn in zip(places, turns, strict=True)}
    cut = {places[at] for at, turn in enumerate(turns) if at in kept.cut and turn.verdict == "pass"}
    return Talk(conversation_json(kept.acted.trajectory.messages), places, hidden, kept.tools, cut)


def _places(acted: Acted) -> list[int]:
    """Where each turn's accepted response stands among the messages of the trajectory."""
    lived, places = acted.trajectory, []
    at = len(lived.head)
    for turn in lived.turns:
        places.append(at)
        at += 1 + (turn.observation is not None)
    return places


def _weights(acted: Acted, talk: Talk, rows: Sequence[TurnTokens], params: Json) -> list[list[float]]:
    """Of each token of each row; 0 where there is no loss."""
    turns = acted.trajectory.turns
    factor = {place: params["rare"] if turn.verdict == "replace" else 1.0 for place, turn in zip(talk.trained, turns)}
    raw = [
        [0.0 if label == NO_LOSS else factor[place] for label, place in zip(row.labels, row.places)] for row in rows
    ]
    whole = math.fsum(weight for row in raw for weight in row) if params["loss_weights"] == "session" else 1.0
    return [[weight / whole for weight in row] for row in raw]


def _kept_row(acted: Acted, found: Sequence[TurnTokens] | str, reason: str | None) -> Json:
    row = {
        "question_id": acted.rollout.question_id,
        "repeat": acted.rollout.repeat,
        "kept": reason is None,
        "drop_reason": reason,
    }
    if not isinstance(found, str):
        trained = sum(map(_trained, found))
        row |= {"tokens_trained": trained, "tokens_masked": sum(len(each.ids) for each in found) - trained}
    return row


def _trained(row: TurnTokens) -> int:
    return sum(label != NO_LOSS for label in row.labels)


def _lines(sessions: Sequence[_Session]) -> Iterator[Json]:
    """Every row is a group of its own: neighbours in an update are of different sessions."""
    rows = ((row, weights) for session in sessions for row, weights in zip(session.rows, session.weights))
    for group, (row, weights) in enumerate(rows):
        yield {"input_ids": row.ids, "labels": row.labels, "weights": weights, "group": group}
