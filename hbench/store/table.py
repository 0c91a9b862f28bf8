"""What a table is, and the short form in which store/tables.py writes one down."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

# step: rows belong to the step that wrote them; the store adds `step_key`.
# shared: written by steps, but they stand for themselves; the first one stays.
# run: from a run's journal; the last row with a key counts.
# owned: replaced together with all other rows of the same first key column (a spec, an exhibit).
# store: the store's own.
Sort = Literal["step", "shared", "run", "owned", "store"]


@dataclass(frozen=True)
class Column:
    """volatile: stored, but no part of what an artifact is (times, hosts, reuse): content digests leave it out.

    default: what a missing value stands for; None is NULL, which a key column may not be in a step's rows.
    """

    name: str
    type: str
    comment: str
    volatile: bool = False
    default: str | int | None = None


@dataclass(frozen=True)
class Table:
    """key: the columns that tell two rows apart.

    DuckDB does not enforce it: indexes would make a fold twice as dear and the file seven times as big (measured);
    commits and folds keep it instead.
    """

    name: str
    sort: Sort
    key: tuple[str, ...]
    comment: str
    columns: tuple[Column, ...]

    @cached_property
    def written(self) -> tuple[Column, ...]:
        """The columns that whoever writes a row gives: all but the step's key."""
        return tuple(c for c in self.columns if self.sort != "step" or c.name != "step_key")

    @cached_property
    def written_key(self) -> tuple[str, ...]:
        return tuple(k for k in self.key if self.sort != "step" or k != "step_key")

    @cached_property
    def volatile(self) -> frozenset[str]:
        return frozenset(c.name for c in self.columns if c.volatile)

    def describe(self) -> str:
        """The table, its key and its columns, a line each."""
        lines = [f"{self.name}: {self.comment}"]
        for column in self.columns:
            marks = " key" * (column.name in self.key) + " volatile" * column.volatile
            lines.append(f"  {column.name:<18}{column.type.lower() + marks:<20}  {column.comment}")
        return "\n".join(lines)


def table(name: str, sort: Sort, key: str, comment: str, lines: str) -> Table:
    """A table from its short form: a line `name  TYPE[, volatile][, default X]  what it holds` for each column."""
    return Table(name, sort, tuple(key.split()), comment, tuple(map(_column, lines.strip().splitlines())))


def _column(line: str) -> Column:
    name, sort, comment = re.split(r"\s{2,}", line.strip(), maxsplit=2)
    kind, *marks = sort.split(", ")
    default = next((m.removeprefix("default ") for m in marks if m.startswith("default ")), None)
    value = default if default is None else "" if default == "''" else int(default)
    return Column(name, kind, comment, "volatile" in marks, value)
