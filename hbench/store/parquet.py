"""Rows of one table as a Parquet file: written and read by DuckDB, which only big steps load."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hbench.store.table import Table
from hbench.store.tables import TABLES

READ_AT_ONCE = 2048  # rows
CONFIG = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "threads": "1"}


@dataclass(frozen=True)
class Lines:
    """JSON lines of one table's rows. longest: bytes of the longest line. repeated: some keys occur more than once.

    files: in order. DuckDB reads up to 32 MB of a file at once, so a few small ones cost less memory than a big one.
    """

    files: Sequence[Path]
    longest: int
    repeated: bool = False


def write_parquet(database: Any, table: str, step_key: str, lines: Lines, target: Path) -> None:
    """`lines` as `target`, in their order, with their `step_key`; of rows with equal keys the last one stays.

    The file is on disk when this returns. database: from `passing`.
    """
    shape = TABLES[table]
    read = read_json_sql(lines.files, lines.longest, [(c.name, c.type) for c in shape.written])
    if lines.repeated:
        key = ", ".join(f'"{k}"' for k in shape.written_key) or "true"
        last = f"qualify row_number() over (partition by {key} order by line desc) = 1 order by line"
        read = f"(select * from (select *, row_number() over () as line from {read}) {last})"
    columns = [f'"{c.name}"' for c in shape.written]
    if shape.sort == "step":
        columns.insert(0, f"'{step_key}' as step_key")
    database.execute(
        f"copy (select {', '.join(columns)} from {read}) to '{quoted(target)}' "
        "(format parquet, compression zstd, row_group_size 2048)"
    )
    sync(target)


def read_parquet(table: str, file: Path) -> list[dict]:
    """The rows of `file` as they were written: without `step_key`, JSON columns decoded. A column that it lacks is None."""
    return list(parquet_rows(table, file))


def parquet_rows(table: str, file: Path) -> Iterator[dict]:
    """The same, few of them in memory at once."""
    columns = TABLES[table].written
    decoded = [c.name for c in columns if c.type == "JSON"]
    with passing() as database:
        names = ", ".join(f'"{c.name}"' for c in columns)
        found = database.execute(f"select {names} from {by_name_sql(TABLES[table], [file])}")
        while some := found.fetchmany(READ_AT_ONCE):
            for values in some:
                row = dict(zip([c.name for c in columns], values))
                yield row | {name: json.loads(row[name]) for name in decoded if row[name] is not None}


def by_name_sql(table: Table, files: Sequence[Path]) -> str:
    """What reads `files`, also those of an older hbench: a column of `table` that one lacks is NULL in its rows."""
    columns = ", ".join(f'null::{c.type} as "{c.name}"' for c in table.columns)
    listed = ", ".join(f"'{quoted(file)}'" for file in files)
    return f"(select {columns} where false union all by name select * from read_parquet([{listed}], union_by_name = true))"


def memory(settings: Mapping[str, str] = MappingProxyType({})) -> Any:
    """A DuckDB connection to nothing. Making one takes longer than writing a thousand rows."""
    import duckdb

    return silent(duckdb.connect(":memory:", config={**CONFIG, **settings}))


def passing() -> Any:
    """A connection for rows that pass from file to file: to one instance for the whole process, where nothing may be left."""
    import duckdb

    try:
        return silent(_one().cursor())
    except duckdb.Error:  # an error of DuckDB's own has ended that instance, for all who come after
        _one.cache_clear()
        return silent(_one().cursor())


@cache
def _one() -> Any:
    return memory()


def silent(connection: Any) -> Any:
    """The connection; it prints no bars of progress, as DuckDB does in a process that it takes for a notebook."""
    connection.execute("set enable_progress_bar = false")
    return connection


def read_json_sql(files: Sequence[Path], longest: int, columns: list[tuple[str, str]]) -> str:
    """The `read_json` call for files of JSON lines with declared columns; nothing is guessed."""
    names = ", ".join(f"'{quoted(file)}'" for file in files)
    types = ", ".join(f'"{name}": \'{kind}\'' for name, kind in columns)
    return (
        f"read_json([{names}], format = 'newline_delimited', columns = {{{types}}}, "
        f"maximum_object_size = {longest + 1024})"
    )


def sync(path: Path) -> None:
    """Waits until the file or folder is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def quoted(path: Path) -> str:
    """The path for use between single quotes in SQL."""
    return str(path).replace("'", "''")
