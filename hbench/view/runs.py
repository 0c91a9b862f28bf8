"""Runs: the newest ones, and how far each is."""

from typing import Any

from hbench.view.page import page
from hbench.view.paging import Listing, shown

RUNS = """
select
  r.run_id,
  s.name as spec,
  r.outcome
from runs as r
left join specs as s using (spec_digest)
"""


def runs(request: Any) -> Any:
    """The newest runs."""
    reading = request.app.state.reading
    found = None if reading.is_empty else shown(reading, Listing(RUNS, ("run_id",), newest_first=True), request.query_params)
    return page(request, "runs.html", shown=found)


ROUTES = [("/runs", runs)]
