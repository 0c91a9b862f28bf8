"""Pages about rollouts: a list to choose from, and one with every call it made."""

from collections.abc import Mapping
from typing import Any

from hbench.view.ids import rollout_address
from hbench.view.listed import Filter, choices, where
from hbench.view.page import page
from hbench.view.paging import Listing, shown
from hbench.view.placed import PLACED, places
from hbench.view.reading import Asked
from hbench.view.rollout import rollout

KEY = ("step_key", "candidate", "question_id", "repeat")
ROLLOUTS = """
select
  r.step_key,
  r.candidate,
  r.question_id,
  r.repeat,
  r.harness_id,
  r.score,
  r.failure,
  r.calls,
  r.prompt_tokens + r.completion_tokens as tokens,
  r.seconds,
  left(r.answer, 200) as answer,
  t.turns,
  t.replaced
from rollouts as r
left join trajectories as t on t.step_key = r.step_key and t.question_id = r.question_id and t.repeat = r.repeat
"""
_OF_LABEL = f"r.step_key in (select done.step_key {PLACED} where {{}} = ?)"
QUESTIONS = "select question_id, left(text, 160) from questions where question_id in (select unnest(?))"
RESULTS = {
    "right": "r.score >= 1",
    "partly": "r.score > 0 and r.score < 1",
    "wrong": "r.score = 0 and r.failure is null",
    "failed": "r.failure is not null",
    "replaced": "t.replaced > 0",
}
FILTERS = {
    "spec": Filter(_OF_LABEL.format("sp.name")),
    "arm": Filter(_OF_LABEL.format("l.arm")),
    "family": Filter(_OF_LABEL.format("l.family")),
    "purpose": Filter(_OF_LABEL.format("l.purpose")),
    "step": Filter("starts_with(r.step_key, ?)"),
    "candidate": Filter("r.candidate = ?", int),
    "harness": Filter("starts_with(r.harness_id, ?)"),
    "question": Filter("starts_with(r.question_id, ?)"),
    "failure": Filter("r.failure = ?"),
}


def rollouts(request: Any) -> Any:
    """The list, as the address narrows it."""
    if request.app.state.reading.is_empty:
        return page(request, "rollouts.html", shown=None)
    reading, asked = request.state.reading, request.query_params
    narrowed, values = where(asked, FILTERS)
    narrowed += [RESULTS[asked["result"]]] if asked.get("result") in RESULTS else []
    sql = ROLLOUTS + ("where " + " and ".join(narrowed) if narrowed else "")
    found = shown(reading, Listing(sql, KEY, tuple(values)), asked)
    return page(
        request,
        "rollouts.html",
        shown=found,
        where=places(reading, (row["step_key"] for row in found.rows)),
        questions=dict(reading.query(QUESTIONS, [[row["question_id"] for row in found.rows]]).rows),
        choices=choices(reading, ("spec", "arm", "family", "purpose")),
        results=tuple(RESULTS),
        asked=asked,
    )


def one(request: Any) -> Any:
    """One rollout."""
    reading, key = request.state.reading, _key(request.path_params)
    record = rollout(reading, *key)
    return page(
        request, "rollout.html", record=record, address=rollout_address(*key), **neighbours(reading, record.row, "rollouts")
    )


def _key(named: Mapping[str, Any]) -> tuple[str, int, str, int]:
    return named["step"], named["candidate"], named["question"], named["repeat"]


def neighbours(reading: Asked, row: Mapping[str, Any], table: str) -> dict[str, tuple[str, int] | None]:
    """before, after: question and repeat of the rollouts beside this one in its step; None at an end."""
    of_candidate = " and candidate = ?" if table == "rollouts" else ""
    mine = [row["step_key"], *([row["candidate"]] if of_candidate else []), row["question_id"], row["repeat"]]
    found = {}
    for name, sign, way in (("before", "<", "desc"), ("after", ">", "asc")):
        sql = (
            f"select question_id, repeat from {table} where step_key = ?{of_candidate} and (question_id, repeat) {sign} (?, ?) "
            f"order by question_id {way}, repeat {way} limit 1"
        )
        found[name] = next(iter(reading.query(sql, mine).rows), None)
    return found


ROUTES = [
    ("/rollouts", rollouts),
    ("/rollouts/{step}/{candidate:int}/{question}/{repeat:int}", one),
]
