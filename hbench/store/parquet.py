"""Rows of one table as a Parquet file: written and read by DuckDB, which only big steps load."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hbench.store.tables import TABLES

CONFIG = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "threads": "1"}


@dataclass(frozen=True)
class Lines:
    """JSON lines of one table's rows. longest: bytes of the longest line. repeated: some keys occur more than once.

    files: in order. DuckDB reads up to 32 MB of a file at once, so a few small ones cost less memory than a big one.
    """

    files: Sequence[Path]
    longest: int
    repeated: bool = False


def write_parquet(table: str, step_key: str, lines: Lines, target: Path) -> None:
    """`lines` as `target`, in their order, with their `step_key`; of rows with equal keys the last one stays.

    The file is on disk when this returns.
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
    with memory() as database:
        database.execute(
            f"copy (select {', '.join(columns)} from {read}) to '{quoted(target)}' "
            "(format parquet, compression zstd, row_group_size 2048)"
        )
    sync(target)


def read_parquet(table: str, file: Path) -> list[dict]:
    """The rows of `file` as they were written: without `step_key`, JSON columns decoded."""
    columns = TABLES[table].written
    with memory() as database:
        names = ", ".join(f'"{c.name}"' for c in columns)
        found = database.execute(f"select {names} from read_parquet('{quoted(file)}')").fetchall()
    rows = [dict(zip([c.name for c in columns], row)) for row in found]
    for column in (c.name for c in columns if c.type == "JSON"):
        for row in rows:
            row[column] = None if row[column] is None else json.loads(row[column])
    return rows


def memory(settings: Mapping[str, str] = MappingProxyType({})) -> Any:
    """A DuckDB connection to nothing."""
    import duckdb

    return silent(duckdb.connect(":memory:", config={**CONFIG, **settings}))


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
