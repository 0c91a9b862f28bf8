"""Pages about harnesses: one with its files and where it came from, and two side by side."""

from typing import Any

from hbench.view import links
from hbench.view.file_diffs import file_diffs
from hbench.view.harness import files_of, harness
from hbench.view.ids import harness_id
from hbench.view.page import NotFound, page


def one(request: Any) -> Any:
    """One harness."""
    reading = request.state.reading
    return page(request, "harness.html", record=harness(reading, harness_id(reading, request.path_params["harness"])))


def asked(request: Any) -> Any:
    """From the form: before and after in the address, by their ids or how they begin, lead to the diff."""
    from starlette.responses import RedirectResponse

    wanted = [request.query_params.get(name, "").strip() for name in ("before", "after")]
    if not all(wanted):
        raise NotFound("a diff is of two harnesses: /diffs?before=HARNESS&after=HARNESS")
    return RedirectResponse(links.diff(*(harness_id(request.state.reading, word) for word in wanted)), 303)


def diff(request: Any) -> Any:
    """Two harnesses."""
    reading = request.state.reading
    ids = [harness_id(reading, request.path_params[name]) for name in ("before", "after")]
    return page(request, "diff.html", ids=ids, diffs=file_diffs(*(files_of(reading, id) for id in ids)))


ROUTES = [("/harnesses/{harness}", one), ("/diffs", asked), ("/diffs/{before}/{after}", diff)]
