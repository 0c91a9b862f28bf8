"""One trajectory as it can be read: what the student wanted, what its reviewer did, what ran, what is trained."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hbench.core.message import Message
from hbench.core.trajectory import Span, Turn
from hbench.core.voice import without_loss
from hbench.view.page import NotFound
from hbench.view.placed import Place, places
from hbench.view.reading import Asked
from hbench.view.rollout import ABSENT, Call, RolloutRecord, rollout

HIDES = ("voice", "reasoning", "none")  # what of a replacement a training may hide, as `train.hide` says

Piece = tuple[str, bool]  # a stretch of text, and whether it is hidden from the loss


@dataclass(frozen=True)
class Use:
    """A step on the way to training that read the trajectory. kind: keep_trajectories, trajectory_rows or pair_rows.

    hide: what it hides; None for the first. kept: None where it says nothing of this trajectory.
    """

    step_key: str
    kind: str
    hide: str | None
    kept: bool | None
    drop_reason: str | None
    tokens_trained: int | None
    tokens_masked: int | None
    places: tuple[Place, ...]


@dataclass(frozen=True)
class TurnRecord:
    """turn: with ABSENT in place of texts that are not there. failure: its kind. calls: in order, the student's first.

    digests: proposal, accepted and observation -> where each is found among the texts.
    """

    number: int
    turn: Turn
    failure: str | None
    digests: Mapping[str, str | None]
    calls: tuple[Call, ...]

    @property
    def fate(self) -> Literal["replaced", "passed", "unreviewed", "alone"]:
        """unreviewed: a reviewer was there and had no say (turn.trouble says why); alone: there was none."""
        if self.turn.verdict == "replace":
            return "replaced"
        return "unreviewed" if self.turn.trouble else "passed" if self.turn.tries else "alone"

    def pieces(self, hide: str) -> tuple[Piece, ...]:
        """The accepted response, what `hide` hides from the loss told apart."""
        return cut_at(self.turn.accepted, without_loss(self.turn, hide))


@dataclass(frozen=True)
class TrajectoryRecord:
    """row: the columns of trajectories. head: what the student was told before its first turn; None: not there."""

    row: Mapping[str, Any]
    rollout: RolloutRecord
    head: tuple[Message, ...] | None
    turns: tuple[TurnRecord, ...]
    uses: tuple[Use, ...]

    @property
    def hide(self) -> str:
        """What the first training on it hides; where there is none, all that the reviewer wrote as reasoning."""
        return next((use.hide for use in self.uses if use.hide), "reasoning")

    @property
    def has_hidden(self) -> bool:
        """The reviewer wrote reasoning, which a training may hide."""
        return any(each.turn.hidden for each in self.turns)

    @property
    def is_trained(self) -> bool:
        """Some training takes it."""
        return any(use.kind != "keep_trajectories" and use.kept is not False for use in self.uses) and all(
            use.kept for use in self.uses if use.kind == "keep_trajectories"
        )


def trajectory(reading: Asked, step_key: str, question_id: str, repeat: int) -> TrajectoryRecord:
    """Raises NotFound."""
    key = [step_key, question_id, repeat]
    found = reading.rows(_TRAJECTORY, key)
    if not found:
        raise NotFound(f"step {step_key[:8]} has no trajectory of question {question_id}, repeat {repeat}")
    whole = rollout(reading, step_key, 0, question_id, repeat)
    head = found[0].pop("head")
    turns = _turns(reading.rows(_TURNS, key), whole.calls)
    return TrajectoryRecord(
        row=found[0],
        rollout=whole,
        head=None if head is None else tuple(Message(**message) for message in json.loads(head)),
        turns=turns,
        uses=_uses(reading, key),
    )


_TRAJECTORY = """
select
  t.*,
  head.text as head
from (select * from trajectories where step_key = ? and question_id = ? and repeat = ?) as t
left join texts.texts as head on head.digest = t.head_digest
"""

_TURNS = """
with mine as (select * from turns where step_key = ? and question_id = ? and repeat = ?),

told as (
  select digest, text
  from texts.texts
  where digest in (select proposal from mine union select accepted from mine union select observation from mine)
)
select
  mine.*,
  proposal.text as proposal_text,
  accepted.text as accepted_text,
  observation.text as observation_text
from mine
left join told as proposal on proposal.digest = mine.proposal
left join told as accepted on accepted.digest = mine.accepted
left join told as observation on observation.digest = mine.observation
order by turn
"""


_SAID = ("proposal", "accepted", "observation")


def _turns(rows: Sequence[Mapping[str, Any]], calls: Sequence[Call]) -> tuple[TurnRecord, ...]:
    shared = _by_turn(calls, len(rows))
    return tuple(
        TurnRecord(row["turn"], _turn(row), row["failure"], {name: row[name] for name in _SAID}, mine)
        for row, mine in zip(rows, shared, strict=True)
    )


def _turn(row: Mapping[str, Any]) -> Turn:
    listed = {name: json.loads(row[name] or "[]") for name in ("components", "checks", "hidden")}
    return Turn(
        proposal=_text(row["proposal_text"]),
        verdict=row["verdict"],
        accepted=_text(row["accepted_text"]),
        observation=Message(row["told_as"] or "", _text(row["observation_text"])) if row["observation"] else None,
        tool=row["tool"],
        hidden=tuple((start, end) for start, end in listed["hidden"]) if row["accepted_text"] is not None else (),
        reason=row["reason"] or "",
        components=tuple(map(str, listed["components"])),
        tries=row["tries"] or 0,
        checks=tuple(map(str, listed["checks"])),
        trouble=row["trouble"] or "",
    )


def _text(text: str | None) -> str:
    return ABSENT if text is None else text


def _by_turn(calls: Sequence[Call], turns: int) -> list[tuple[Call, ...]]:
    """Each turn begins with a call of whoever spoke first: the student."""
    found: list[list[Call]] = [[] for _ in range(turns)]
    student = next((call.row["role"] for call in calls if call.row["kind"] == "lm"), None)
    at = -1
    for call in calls if turns else ():
        at += call.row["kind"] == "lm" and call.row["role"] == student
        found[min(max(at, 0), turns - 1)].append(call)
    return [tuple(mine) for mine in found]


def _uses(reading: Asked, key: Sequence[Any]) -> tuple[Use, ...]:
    rows = reading.rows(_USES, [key[0], *key[1:]])
    where = places(reading, [row["step_key"] for row in rows])
    return tuple(Use(**row, places=where[row["step_key"]]) for row in rows)


_USES = """
with readers as (
  select distinct reader.step_key
  from run_steps as mine
  join plan_edges as edge on edge.from_step_id = mine.step_id
  join run_steps as reader on reader.step_id = edge.step_id and reader.run_id = mine.run_id
  where mine.step_key = ?
)
select
  s.step_key,
  s.kind,
  s.params ->> '$.hide' as hide,
  kept.kept,
  kept.drop_reason,
  kept.tokens_trained,
  kept.tokens_masked
from steps as s
left join kept_trajectories as kept on kept.step_key = s.step_key and kept.question_id = ? and kept.repeat = ?
where s.step_key in (select step_key from readers) and s.kind in ('keep_trajectories', 'trajectory_rows', 'pair_rows')
order by s.kind, s.step_key
"""


def cut_at(text: str, spans: Sequence[Span]) -> tuple[Piece, ...]:
    """`text` in pieces, those of `spans` (half-open, any order) marked; no piece is empty."""
    edges = sorted({0, len(text), *(min(max(edge, 0), len(text)) for span in spans for edge in span)})
    found: list[Piece] = []
    for start, end in zip(edges, edges[1:]):
        marked = any(first <= start and end <= last for first, last in spans)
        if found and found[-1][1] == marked:
            found[-1] = (found[-1][0] + text[start:end], marked)
        else:
            found.append((text[start:end], marked))
    return tuple(found)
