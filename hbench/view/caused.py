"""What led to a candidate: the report that its proposer read, or the rollouts that an evolver's change rests on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hbench.view.reading import Asked


@dataclass(frozen=True)
class Report:
    """What the proposer read. text: None where the text is not there. ran_key: the step whose rollouts it tells of."""

    step_key: str
    harness_id: str
    text: str | None
    ran_key: str | None


@dataclass(frozen=True)
class Caused:
    """report: None where none led to it. family: of its edit context, where its step had many.

    path: of an evolver's change, the one file it is about. cites: the rollouts it rests on: step, question, repeat, score.
    """

    report: Report | None = None
    family: str | None = None
    path: str | None = None
    cites: tuple[tuple[str, str, int, float], ...] = ()


def caused(reading: Asked, row: Mapping[str, Any], kind: str, drawn: Mapping[str, Any] | None) -> Caused:
    """row: of candidates. kind: its step's. drawn: its row of completions, where a trainer drew it."""
    step_key, number = row["step_key"], row["candidate"]
    if kind == "evolve":
        change = _change(reading, step_key, number)
        return Caused(path=change.get("path"), cites=_cited(reading, step_key, change.get("cites", ())))
    if context := _context(reading, row, kind, drawn):
        return Caused(_report(reading, context["report_key"]), context["family"])
    return Caused(_read_report(reading, step_key))


def first(reading: Asked, sql: str, values: Sequence[Any]) -> dict[str, Any] | None:
    """The first row; None where there is none."""
    return next(iter(reading.rows(sql, values)), None)


def _context(reading: Asked, row: Mapping[str, Any], kind: str, drawn: Mapping[str, Any] | None) -> dict[str, Any] | None:
    step_key = row["step_key"]
    if drawn:
        return first(reading, _CONTEXTS, [step_key, drawn["context"]])
    if kind != "demonstrate":
        return None
    per_context = reading.query("select (params ->> '$.per_context')::bigint from steps where step_key = ?", [step_key]).rows[0][
        0
    ]
    return first(reading, _CONTEXTS, [step_key, row["candidate"] // max(per_context or 1, 1)])


_READ_BY = """
select distinct source.step_key
from run_steps as mine
join plan_edges as edge on edge.step_id = mine.step_id
join run_steps as source on source.step_id = edge.from_step_id and source.run_id = mine.run_id
where mine.step_key = ?
"""

_CONTEXTS = f"select * from edit_contexts where step_key in ({_READ_BY}) and position = ? order by step_key"


def _read_report(reading: Asked, step_key: str) -> Report | None:
    sql = f"select step_key from reports where step_key in ({_READ_BY}) order by step_key"
    found = first(reading, sql, [step_key])
    return _report(reading, found["step_key"]) if found else None


def _report(reading: Asked, step_key: str) -> Report | None:
    found = first(reading, _REPORT, [step_key, step_key])
    return Report(**found) if found else None


_REPORT = f"""
select
  r.step_key,
  r.harness_id,
  t.text,
  (select min(step_key) from steps where kind = 'evaluate' and step_key in ({_READ_BY})) as ran_key
from reports as r
left join texts.texts as t on t.digest = r.text_digest
where r.step_key = ?
"""


def _change(reading: Asked, step_key: str, number: int) -> dict[str, Any]:
    """What an evolve step says of one of its changes; {} of an answer that could not be read."""
    (found,) = reading.query("select value -> ? from steps where step_key = ?", [f"$.changes[{number}]", step_key]).rows[0]
    return json.loads(found or "{}")


def _cited(reading: Asked, step_key: str, questions: Sequence[str]) -> tuple[tuple[str, str, int, float], ...]:
    sql = (
        f"select step_key, question_id, repeat, score from rollouts where step_key in ({_READ_BY}) "
        "and question_id in (select unnest(?)) order by step_key, question_id, repeat"
    )
    return tuple(reading.query(sql, [step_key, list(questions)]).rows) if questions else ()
