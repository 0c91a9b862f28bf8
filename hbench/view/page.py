"""One page: a template of pages/ with its values, everything in it escaped."""

import json
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hbench.core.failure import HbenchError
from hbench.view import links
from hbench.view.opening import opening
from hbench.view.visible import visible


class NotFound(HbenchError):
    """Something that an address names is not in the results: the page says so, with status 404."""

    status = 404


def page(request: Any, name: str, /, status: int = 200, **values: Any) -> Any:
    """pages/<name> as a response. Templates also see `to` (addresses, see links.py), `reading` and `path`."""
    from starlette.responses import HTMLResponse

    found = {"reading": request.app.state.reading, "path": request.url.path, **values}
    return HTMLResponse(_templates().get_template(name).render(found), status)


@cache
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= FILTERS
    templates.globals["to"] = SimpleNamespace(**{name: getattr(links, name) for name in links.__all__})
    return templates


def short(digest: str | None) -> str:
    """The first eight characters of an id or key."""
    return (digest or "–")[:8]


def number(value: float | None, digits: int = 3) -> str:
    """A score with `digits` behind the point, a whole number with thin spaces, a dash for nothing."""
    if value is None:
        return "–"
    return f"{value:,}".replace(",", "\u2009") if isinstance(value, int) else f"{value:.{digits}f}"


def span(seconds: float | None) -> str:
    """4.2 s, 12 min, 3.5 h; a dash for nothing."""
    if seconds is None:
        return "–"
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def moment(at: datetime | None) -> str:
    """2026-11-30 05:10, in UTC as the tables have it; a dash for nothing."""
    return at.strftime("%Y-%m-%d %H:%M") if at else "–"


def pretty_json(value: Any) -> str:
    """A value, or a column that holds JSON as text, laid out."""
    try:
        value = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return str(value)
    return json.dumps(value, indent=2, ensure_ascii=False)


FILTERS: dict[str, Callable] = {
    "visible": visible,
    "opening": opening,
    "short": short,
    "number": number,
    "span": span,
    "moment": moment,
    "pretty_json": pretty_json,
}
