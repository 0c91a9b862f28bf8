"""Multi-turn rollouts as rows of the tables rollouts, grades, events, trajectories, turns and texts, and back."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from hbench.core.digest import Json, text_digest
from hbench.core.failure import Failure
from hbench.core.message import Message
from hbench.core.trajectory import Acted, Trajectory, Turn, conversation_json
from hbench.steps._rollout_rows import rollout_rows, rollouts_from_rows

Rows = dict[str, list[dict[str, Any]]]
# What a turn's failure crossed, where it was no call that could not be read.
STUDENT = "student"  # the role whose events are those of the trajectory, a call each turn; a sub-agent's are not
_BOUNDARY = {"timeout": "limits", "refused": "harness", "error": "harness", "bad_type": "harness"}


class HasRows(Protocol):
    """An act step's artifact. value["questions"]: their ids, in order."""

    value: Json

    def rows(self, table: str) -> list[dict]: ...


def acted_rows(acted: Acted, grade: str, domain: str) -> Rows:
    """The rows of one rollout, by table. grade: the one stored as `score`. domain: its name."""
    rows, lived, texts = rollout_rows(acted.rollout, grade), acted.trajectory, {}
    key = {"question_id": lived.question_id, "repeat": lived.repeat}
    rows["trajectories"] = [
        {
            **key,
            "domain": domain,
            "score": acted.rollout.grade(grade),
            "head_digest": _keep(json.dumps(conversation_json(lived.head), ensure_ascii=False), texts),
            "turns": len(lived.turns),
            "replaced": lived.replaced,
            "unreviewed": sum(turn.trouble != "" for turn in lived.turns),
        }
    ]
    rows["turns"] = [{**key, "turn": place, **_turn(turn, texts)} for place, turn in enumerate(lived.turns)]
    known = {row["digest"] for row in rows["texts"]}
    rows["texts"] += [{"digest": digest, "text": text} for digest, text in texts.items() if digest not in known]
    return rows


def acted_from_rows(made: HasRows) -> list[Acted]:
    """Every rollout of an act step, in question order, then by repeat; without events. made: its artifact."""
    rollouts = rollouts_from_rows(made.rows("rollouts"), made.rows("grades"))
    by_rollout: dict[tuple[str, int], list[dict]] = {}
    for row in made.rows("turns"):
        by_rollout.setdefault(_key(row), []).append(row)
    heads = {_key(row): row["head_digest"] for row in made.rows("trajectories")}
    texts = _texts(made, heads.values(), by_rollout.values())
    lived = {key: _trajectory(key, texts[head], by_rollout.get(key, ()), texts) for key, head in heads.items()}
    place = {question: at for at, question in enumerate(made.value["questions"])}
    ordered = sorted(rollouts, key=lambda rollout: (place[rollout.question_id], rollout.repeat))
    return [Acted(rollout, lived[rollout.question_id, rollout.repeat]) for rollout in ordered]


def cut_turns(made: HasRows) -> dict[tuple[str, int], frozenset[int]]:
    """(question id, repeat) -> the turns in which the student's own words ended at the limit of tokens. made: as above."""
    said: dict[tuple[str, int], list[str | None]] = {}
    for row in sorted(made.rows("events"), key=lambda row: row["position"]):
        if row["kind"] == "lm" and row["role"] == STUDENT:
            said.setdefault(_key(row), []).append(row["finish_reason"])
    return {key: frozenset(turn for turn, why in enumerate(its) if why == "length") for key, its in said.items()}


def _turn(turn: Turn, texts: dict[str, str]) -> dict[str, Any]:
    return {
        "verdict": turn.verdict,
        "tool": turn.tool,
        "proposal": _keep(turn.proposal, texts),
        "accepted": _keep(turn.accepted, texts),
        "observation": _keep(turn.observation.content, texts) if turn.observation else None,
        "told_as": turn.observation.role if turn.observation else None,
        "failure": turn.failure.kind if turn.failure else None,
        "reason": turn.reason,
        "components": list(turn.components),
        "checks": list(turn.checks),
        "tries": turn.tries,
        "trouble": turn.trouble or None,
        "hidden": [list(span) for span in turn.hidden],
    }


def _keep(text: str, texts: dict[str, str]) -> str:
    found = text_digest(text)
    texts[found] = text
    return found


def _key(row: Mapping[str, Any]) -> tuple[str, int]:
    return row["question_id"], row["repeat"]


def _texts(made: HasRows, heads: Iterable[str], turns: Iterable[Iterable[dict]]) -> dict[str, str]:
    """digest -> text, of what trajectories hold and not of what events hold."""
    wanted = set(heads)
    for rows in turns:
        wanted |= {row[name] for row in rows for name in ("proposal", "accepted", "observation")}
    return {row["digest"]: row["text"] for row in made.rows("texts") if row["digest"] in wanted}


def _trajectory(key: tuple[str, int], head: str, rows: Iterable[dict], texts: Mapping[str, str]) -> Trajectory:
    turns = [_turn_of(row, texts) for row in sorted(rows, key=lambda row: row["turn"])]
    return Trajectory(*key, tuple(Message(**message) for message in json.loads(head)), tuple(turns))


def _turn_of(row: dict, texts: Mapping[str, str]) -> Turn:
    failure, told = row["failure"], row["observation"]
    return Turn(
        proposal=texts[row["proposal"]],
        verdict=row["verdict"],
        accepted=texts[row["accepted"]],
        observation=Message(row["told_as"], texts[told]) if told is not None else None,
        tool=row["tool"],
        failure=Failure(_BOUNDARY.get(failure, "parse"), failure) if failure else None,
        hidden=tuple((start, end) for start, end in row["hidden"]),
        reason=row["reason"] or "",
        components=tuple(row["components"]),
        tries=row["tries"],
        checks=tuple(row["checks"]),
        trouble=row["trouble"] or "",
    )
