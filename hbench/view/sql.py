"""The SQL box: one query at a time, saved queries beside it, the tables below."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.store.tables import TABLES
from hbench.store.views import views
from hbench.view import links
from hbench.view.guard import is_own
from hbench.view.page import page
from hbench.view.sql_asked import Most
from hbench.view.sql_process import Answer, ask
from hbench.view.sql_saved import forget, save, saved

SHOWN = Most(rows=500, characters=400_000)
OF_EXHIBIT = Most(rows=500, characters=400_000, seconds=60)  # the exhibit's own SQL runs first
AS_A_FILE = Most(rows=200_000, characters=50_000_000, seconds=30)
LINKED = {
    "run_id": links.run,
    "step_key": links.step,
    "harness_id": links.harness,
    "parent_id": links.harness,
    "chosen_id": links.harness,
}


@dataclass(frozen=True)
class Outcome:
    """What became of a query: its answer, or why there is none."""

    answer: Answer | None = None
    trouble: str = ""


def sql(request: Any) -> Any:
    """The box; with `q` in the address also its answer. A link from elsewhere only fills the box."""
    place, query, exhibit = request.app.state.reading, request.query_params.get("q", ""), request.query_params.get("exhibit") or None
    outcome = _asked(place.folder, query, exhibit) if query.strip() and is_own(request) else None
    known = saved(place)
    tables = [(table.name, table.comment, table.columns) for table in TABLES.values()]
    values: dict[str, Any] = {"query": query, "exhibit": exhibit, "outcome": outcome, "saved": known, "tables": tables, "views": views()}
    return page(request, "sql.html", named=request.query_params.get("named", ""), linked=LINKED, **values)


def csv(request: Any) -> Any:
    """The answer as a CSV file."""
    from starlette.responses import Response

    if not is_own(request):
        raise HbenchError("a link from elsewhere runs no query")
    asked = request.query_params
    answer = ask(request.app.state.reading.folder, asked.get("q", ""), AS_A_FILE, asked.get("exhibit") or None)
    return Response(_csv(answer), media_type="text/csv", headers={"content-disposition": 'attachment; filename="query.csv"'})


def _csv(answer: Answer) -> str:
    import csv as writing
    import io

    out = io.StringIO()
    writer = writing.writer(out, lineterminator="\n")
    writer.writerow(answer.columns)
    writer.writerows(answer.rows)
    return out.getvalue()


def keep(request: Any) -> Any:
    """Saves the query under a name, or forgets the one of that name."""
    from starlette.responses import RedirectResponse

    form: Mapping[str, str] = request.state.form
    name, query = form.get("name", ""), form.get("q", "")
    if form.get("forget"):
        forget(request.app.state.reading, name)
        return RedirectResponse("/sql", 303)
    save(request.app.state.reading, name, query)
    return RedirectResponse(links.sql(query, name), 303)


def _asked(folder: Path, query: str, exhibit: str | None) -> Outcome:
    try:
        return Outcome(ask(folder, query, OF_EXHIBIT if exhibit else SHOWN, exhibit))
    except HbenchError as bad:
        return Outcome(trouble=str(bad))


ROUTES = [("/sql", sql), ("/sql.csv", csv), ("/sql/saved", keep, ["POST"])]
