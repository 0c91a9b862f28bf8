"""The page of one long text, whole, a part at a time."""

from typing import Any

from hbench.core.failure import HbenchError
from hbench.view.page import NotFound, page

PART = 300_000  # characters on a page


def one(request: Any) -> Any:
    """from in the address: the character that the part begins with."""
    digest, begin = request.path_params["digest"], request.query_params.get("from", "0")
    if not begin.isdecimal():
        raise HbenchError("`from` in the address is a number of characters")
    rows = request.state.reading.query(
        "select substr(text, ?, ?), length(text) from texts.texts where digest = ?", [int(begin) + 1, PART, digest]
    ).rows
    if not rows:
        raise NotFound(f"the text {digest} is not here")
    part, whole = rows[0]
    return page(request, "text.html", digest=digest, part=part, begin=int(begin), whole=whole, size=PART)


ROUTES = [("/texts/{digest}", one)]
