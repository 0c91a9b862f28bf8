"""One step: what it was made from and for, what it gave, and the rows it wrote."""

from collections.abc import Mapping
from typing import Any

from hbench.store.tables import TABLES
from hbench.view.chart import Chart, Curve, chart
from hbench.view.page import NotFound, page
from hbench.view.placed import places
from hbench.view.reading import Asked

PLACES_SHOWN = 40
FIRST_CURVES = ("reward", "loss", "eval_loss")  # of a trainer's many


def step(request: Any) -> Any:
    """One step. A step that failed has no artifact: then there is its error alone."""
    reading, key = request.state.reading, request.path_params["step_key"]
    runs = reading.rows(RUNS, [key])
    found = reading.rows("select * from steps where step_key = ?", [key])
    if not found and not runs:
        raise NotFound(f"no step {key} in {request.app.state.reading.folder}")
    values: dict[str, Any] = {"key": key, "runs": runs, "step": found[0] if found else None}
    values["places"] = places(reading, [key])[key]
    values["inputs"] = reading.rows(INPUTS, [runs[0]["run_id"], runs[0]["step_id"]]) if runs else []
    values["models"] = reading.rows("select role, model, revision, engine from models where step_key = ? order by role", [key])
    values["report"] = next(iter(reading.rows(REPORT, [key])), None)
    return page(request, "step.html", counts=counts(reading, key), curves=curves(reading, key), shown=PLACES_SHOWN, **values)


def counts(reading: Asked, step_key: str) -> Mapping[str, int]:
    """Table -> how many rows it has of the step; only those that have some."""
    named = [table.name for table in TABLES.values() if table.sort == "step"]
    sql = " union all ".join(f"select '{name}', count(*) from \"{name}\" where step_key = ?" for name in named)
    return {name: count for name, count in reading.query(sql, [step_key] * len(named)).rows if count}


def curves(reading: Asked, step_key: str) -> list[Chart]:
    """What a trainer logged, a chart a name; rewards and losses first."""
    logged: dict[str, list[tuple[float, float]]] = {}
    for name, update, value in reading.query(UPDATES, [step_key]).rows:
        logged.setdefault(name, []).append((update, value))
    order = sorted(logged, key=lambda name: (FIRST_CURVES.index(name) if name in FIRST_CURVES else len(FIRST_CURVES), name))
    charts = [chart([Curve(name, logged[name])], "update", name) for name in order if len(logged[name]) > 1]
    return [each for each in charts if each is not None]


RUNS = """
select
  s.run_id,
  s.step_id,
  s.status,
  s.seconds,
  s.error
from run_steps as s
where s.step_key = ?
order by s.run_id desc
limit 20
"""

INPUTS = """
select
  e.input,
  s.step_key,
  p.kind
from runs as r
join plan_edges as e using (spec_digest)
join plan_steps as p on p.spec_digest = r.spec_digest and p.step_id = e.from_step_id
left join run_steps as s on s.run_id = r.run_id and s.step_id = e.from_step_id
where r.run_id = ? and e.step_id = ?
order by e.input
"""

REPORT = """
select
  r.harness_id,
  t.text
from reports as r
left join texts as t on t.digest = r.text_digest
where r.step_key = ?
"""

UPDATES = """
select
  name,
  update,
  coalesce(value, measured)
from updates
where step_key = ? and coalesce(value, measured) is not null
order by name, update
"""

ROUTES = [("/steps/{step_key}", step)]
