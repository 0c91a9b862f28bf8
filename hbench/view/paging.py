"""Long lists, a page at a time: by key, in SQL, so that page 2,000 costs what page 1 does."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from hbench.core.failure import HbenchError
from hbench.view.reading import Asked

SIZE = 50


@dataclass(frozen=True)
class Listing:
    """sql: a query without order. key: columns, none NULL, that tell its rows apart and order them.

    newest_first: in falling order of the key.
    """

    sql: str
    key: tuple[str, ...]
    values: tuple[Any, ...] = ()
    newest_first: bool = False


@dataclass(frozen=True)
class Shown:
    """One page of a listing. rows: column -> value. before, after: addresses of its neighbours; empty at an end."""

    rows: tuple[Mapping[str, Any], ...]
    before: str
    after: str


def shown(reading: Asked, listing: Listing, asked: Mapping[str, str], size: int = SIZE) -> Shown:
    """The page that an address asks for. asked: its query, in which `after` or `before` holds a key as JSON."""
    back = "before" in asked and "after" not in asked
    edge = _edge(asked.get("before" if back else "after"), listing)
    found = _rows(reading, listing, edge, back, size + 1)
    more, rows = len(found) > size, found[:size]
    if back:
        rows.reverse()
    earlier, later = (more, True) if back else (edge is not None, more)
    return Shown(
        tuple(rows),
        _address(asked, "before", rows[0], listing) if rows and earlier else "",
        _address(asked, "after", rows[-1], listing) if rows and later else "",
    )


def _rows(reading: Asked, listing: Listing, edge: list | None, back: bool, size: int) -> list[dict[str, Any]]:
    falling = listing.newest_first != back
    key = ", ".join(f'"{name}"' for name in listing.key)
    order = ", ".join(f'"{name}" {"desc" if falling else "asc"}' for name in listing.key)
    where, values = "", list(listing.values)
    if edge is not None:
        sign = "<" if falling else ">"
        # The first column by itself lets DuckDB pass over blocks that cannot hold the page.
        where = f'where "{listing.key[0]}" {sign}= ? and ({key}) {sign} ({", ".join("?" for _ in edge)})'
        values += [edge[0], *edge]
    return reading.rows(f"select * from ({listing.sql}) {where} order by {order} limit {size}", values)


def _edge(text: str | None, listing: Listing) -> list | None:
    if text is None:
        return None
    try:
        edge = json.loads(text)
    except ValueError:
        edge = None
    if not isinstance(edge, list) or len(edge) != len(listing.key) or not all(isinstance(e, str | int | float) for e in edge):
        raise HbenchError("the address names no place in this list; start at its first page")
    return edge


def _address(asked: Mapping[str, str], way: str, row: Mapping[str, Any], listing: Listing) -> str:
    kept = {name: value for name, value in asked.items() if name not in ("after", "before")}
    return "?" + urlencode({**kept, way: json.dumps([row[name] for name in listing.key])})
