"""Narrowing a list by what its address asks for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hbench.core.failure import HbenchError
from hbench.view.reading import Asked

OF_SPECS = {
    "spec": "select distinct name from specs order by name",
    "arm": "select distinct arm from plan_labels order by arm",
    "family": "select distinct family from plan_labels order by family",
    "purpose": "select distinct purpose from plan_labels order by purpose",
    "outcome": "select distinct outcome from candidates order by outcome",
}


@dataclass(frozen=True)
class Filter:
    """sql: a condition with one `?`. read: makes its value of the text in the address."""

    sql: str
    read: Callable[[str], Any] = str


def where(asked: Mapping[str, str], filters: Mapping[str, Filter]) -> tuple[list[str], list[Any]]:
    """Conditions and their values; a filter that is left empty narrows nothing. Raises HbenchError."""
    conditions, values = [], []
    for name, each in filters.items():
        if text := asked.get(name, "").strip():
            try:
                values.append(each.read(text))
            except ValueError:
                raise HbenchError(f"{name} in the address is {text!r}; a whole number is wanted") from None
            conditions.append(each.sql)
    return conditions, values


def choices(reading: Asked, names: Iterable[str]) -> dict[str, Sequence[str]]:
    """Filter -> the values that it may have in these results."""
    return {name: [value for (value,) in reading.query(OF_SPECS[name]).rows if value] for name in names}
