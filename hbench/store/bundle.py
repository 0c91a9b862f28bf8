"""A published bundle, read as a database: the tables and views of a results folder, over Parquet files."""

import json
from pathlib import Path
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.folder_digest import file_digest
from hbench.core.published import BUNDLE, ROWS
from hbench.store.manifest import check_manifest
from hbench.store.parquet import memory, quoted
from hbench.store.table import Table
from hbench.store.tables import TABLES
from hbench.store.views import views


def open_bundle(folder: Path | None) -> Any:
    """A DuckDB connection in memory to what the bundle in `folder` holds, for the caller to close. None: to no row at all.

    A table that the bundle lacks is empty, a column that it lacks is NULL. Raises HbenchError when a file of rows is
    not the one that bundle.json names, or one that it does not name, or a newer hbench wrote it.
    """
    files = {file.stem: file for file in _checked(folder, read_manifest(folder))} if folder else {}
    connection = memory()
    try:
        connection.execute("attach ':memory:' as texts")
        for table in TABLES.values():
            place = "texts.texts" if table.name == "texts" else f'"{table.name}"'
            connection.execute(_table_sql(connection, place, table, files.get(table.name)))
        for view in views():
            connection.execute(view.sql)
        connection.execute("create temp view texts as select * from texts.texts")
        return connection
    except BaseException:
        connection.close()
        raise


def read_manifest(folder: Path) -> Json:
    """What bundle.json says. Raises HbenchError when it cannot be read, or a newer hbench wrote it."""
    file = folder / BUNDLE
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as broken:
        raise HbenchError(f"{file} cannot be read: {broken}") from None
    check_manifest(found, file)
    return found


def _checked(folder: Path, manifest: Json) -> frozenset[Path]:
    """The files of rows that bundle.json names; no other is opened."""
    named = {folder / name: known["sha256"] for name, known in manifest["files"].items() if name.startswith(f"{ROWS}/")}
    for file, known in named.items():
        if not file.is_file() or file_digest(file) != known:
            raise HbenchError(f"{file} is not the file that {BUNDLE} names: it was changed, or not fetched whole")
    if stray := sorted(file for file in (folder / ROWS).glob("*.parquet") if file not in named):
        raise HbenchError(f"{stray[0]} is named nowhere in {BUNDLE}: it was put there later, or taken off the list")
    return frozenset(named)


def _table_sql(connection: Any, place: str, table: Table, file: Path | None) -> str:
    """file: None for a table that nobody wrote."""
    if file is None:
        columns = ", ".join(f'"{c.name}" {c.type}' for c in table.columns)
        return f"create table {place} ({columns})"
    source = f"read_parquet('{quoted(file)}')"
    there = {name for name, *_ in connection.execute(f"describe select * from {source}").fetchall()}
    columns = ", ".join(
        f'"{c.name}"::{c.type} as "{c.name}"' if c.name in there else f'null::{c.type} as "{c.name}"'
        for c in table.columns
    )
    return f"create view {place} as select {columns} from {source}"
