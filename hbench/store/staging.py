"""Rows on their way into the database: gathered as files that DuckDB reads at once, never row by row."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.store.journal import RUN_TABLES
from hbench.store.packing import parquet_file
from hbench.store.parquet import by_name_sql, quoted, read_json_sql
from hbench.store.reading import read_record
from hbench.store.rows import encode, row_key
from hbench.store.table import Table
from hbench.store.tables import TABLES

LARGE = 1_000_000  # bytes of a table's new rows: for fewer, a second thread only costs time
THREADS = min(4, os.cpu_count() or 1)  # readers wait while rows are put in: that is soon over


@dataclass
class _Gathered:
    """One table's new rows: JSON lines in an open file, and Parquet files as they lie."""

    lines: Any
    longest: int = 0
    parquet: list[Path] = field(default_factory=list)

    @property
    def large(self) -> bool:
        return self.lines.tell() + sum(file.stat().st_size for file in self.parquet) > LARGE


class Stage:
    """New rows of many steps, in `folder`. Filled once, then inserted.

    by_name: Parquet files may be of an older hbench and lack columns, which are then NULL; otherwise they have all.
    """

    def __init__(self, folder: Path, by_name: bool = False):
        self._folder, self._by_name = folder, by_name
        self._tables: dict[str, _Gathered] = {}
        self._owners: dict[str, set[str]] = {}  # owned table -> owners whose rows are replaced

    def add_step(self, folder: Path) -> None:
        """A finished step. Raises StepError when it is not whole."""
        record = read_record(folder, rows=True)
        missing = [t for t in (record or {}).get("counts", ()) if t not in TABLES]
        if record is None or missing:
            raise StepError(f"{folder}: unknown tables {', '.join(missing)}" if missing else f"{folder} is gone")
        key, inline = record["key"], record["rows"]
        files = {t: parquet_file(folder, t) for t, count in record["counts"].items() if count and t not in inline}
        if gone := [str(file) for file in files.values() if not file.exists()]:
            raise StepError(f"{gone[0]} is gone")
        for table, rows in inline.items():
            own = {"step_key": key} if TABLES[table].sort == "step" else {}
            self._add(table, ({**own, **row} for row in rows))
        for table, file in files.items():
            self._gathered(table).parquet.append(file)
        self._add("steps", [_steps_row(record)])

    def add_owned(self, owner: str, tables: Iterable[str], rows: Mapping[str, list[dict]]) -> None:
        """`rows` in place of all rows that `owner` had in `tables`."""
        for table in tables:
            self._owners.setdefault(table, set()).add(owner)
            self._add(table, rows.get(table, ()))

    def add_journal(self, records: Iterable[Mapping[str, list[dict]]]) -> frozenset[str]:
        """Rows of runs: of rows with equal keys the last one counts. Returns the tables of a newer hbench, left out."""
        last: dict[str, dict[str, dict]] = {}
        for record in records:
            for table, rows in record.items():
                known = rows if table in RUN_TABLES else ()
                last.setdefault(table, {}).update({row_key(table, row): row for row in known})
        for table in RUN_TABLES & last.keys():
            self._add(table, last[table].values())
        return frozenset(last) - RUN_TABLES

    def add_marks(self, marks: Mapping[str, str]) -> None:
        """Bookkeeping rows, each in place of the earlier one."""
        self._add("folded", ({"place": place, "mark": mark} for place, mark in marks.items()))

    def has(self, table: str) -> bool:
        return table in self._tables

    def insert(self, database: Any, tables: Iterable[str]) -> None:
        """Puts the rows of `tables` into the connected `database`, in one transaction."""
        if any(gathered.large for gathered in self._tables.values()):
            database.execute(f"set threads = {THREADS}")
        database.execute("begin")
        for name in sorted(self._tables.keys() & set(tables)):
            self._tables[name].lines.flush()
            for statement in _statements(TABLES[name], self._source(name), sorted(self._owners.get(name, ()))):
                database.execute(statement)
        database.execute("commit")

    def close(self) -> None:
        """Removes the gathered files."""
        for table, gathered in self._tables.items():
            gathered.lines.close()
            self._file(table).unlink()

    def _file(self, table: str) -> Path:
        return self._folder / f"{table}.jsonl"

    def _gathered(self, table: str) -> _Gathered:
        if table not in self._tables:
            self._tables[table] = _Gathered(self._file(table).open("wb"))
        return self._tables[table]

    def _add(self, table: str, rows: Iterable[Mapping[str, Json]]) -> None:
        gathered = self._gathered(table)
        for row in rows:
            line = encode(row) + b"\n"
            gathered.lines.write(line)
            gathered.longest = max(gathered.longest, len(line))

    def _source(self, table: str) -> str:
        """A query for the new rows with all their columns, in order."""
        columns, gathered = TABLES[table].columns, self._tables[table]
        read = [(c.name, "VARCHAR" if c.type == "TIMESTAMP" else c.type) for c in columns]
        times = {c.name for c in columns if c.type == "TIMESTAMP"}
        chosen = ", ".join(f'try_cast("{name}" as timestamp)' if name in times else f'"{name}"' for name, _ in read)
        queries = [f"select {chosen} from {read_json_sql([self._file(table)], gathered.longest, read)}"]
        if gathered.parquet:
            queries.append(f"select {chosen} from {self._parquet_sql(TABLES[table], gathered.parquet)}")
        return " union all ".join(queries)

    def _parquet_sql(self, table: Table, files: list[Path]) -> str:
        if self._by_name:
            return by_name_sql(table, files)
        listed = ", ".join(f"'{quoted(file)}'" for file in files)
        return f"read_parquet([{listed}])"


def _statements(table: Table, source: str, owners: list[str]) -> Iterator[str]:
    """SQL that brings `source` into `table` as its sort asks; see store/table.py."""
    name, key = f'"{table.name}"', ", ".join(f'"{k}"' for k in table.key)
    same = " and ".join(f'{name}."{k}" = new."{k}"' for k in table.key)
    if table.sort == "shared":
        # A table of its own, so that its size is known: a few new rows are then looked up among millions, not the reverse.
        yield f"create or replace temp table fresh as select * from ({source}) qualify row_number() over (partition by {key}) = 1"
        source = f"select * from fresh as new where not exists (select 1 from {name} where {same})"
    elif table.sort == "owned":
        listed = ", ".join("'" + owner.replace("'", "''") + "'" for owner in owners)
        yield f'delete from {name} where "{table.key[0]}" in ({listed})'
    elif table.sort == "run" or table.name == "folded":
        yield f"delete from {name} using ({source}) as new where {same}"
    yield f"insert into {name} {source}"
    if table.sort == "shared":
        yield "drop table fresh"


def _steps_row(record: Mapping[str, Json]) -> dict[str, Json]:
    row = {c.name: record.get(c.name) for c in TABLES["steps"].columns}
    return {**row, "step_key": record["key"]}
