"""A bundle as one DuckDB file, for whoever has DuckDB and not hbench: the same tables and views, texts and all."""

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.store.bundle import open_bundle, read_manifest
from hbench.store.parquet import quoted
from hbench.store.schema import table_statements, view_statements
from hbench.store.table import table
from hbench.store.tables import TABLES

OLDEST = "v1.0.0"  # the storage version written: every DuckDB from 1.0 on reads it
# What is no row of a run; its key says which line of the file it is.
MANIFEST = table("bundle", "store", "name", "The bundle that this file was made of.", """
    name  VARCHAR  the bundle's name
    manifest  JSON  its bundle.json: specs, runs, commits, versions, what was left out
""")
BOOKKEEPING = "folded"  # the store's own, which no bundle holds


def write_file(folder: Path, file: Path) -> None:
    """Makes `file` of the bundle in `folder`, in place of an earlier such file.

    Adapters stay in the folder. Raises HbenchError where `file` is something else, or the bundle is not whole.
    """
    check_target(file)
    manifest = read_manifest(folder)
    part = file.with_name(f".{file.name}.part")
    _remove(part)
    try:
        with closing(open_bundle(folder)) as connection:
            connection.execute(f"attach '{quoted(part)}' as made (storage_version '{OLDEST}')")
            connection.execute("drop view temp.main.texts")  # it would stand before the table
            connection.execute("use made")
            for name in TABLES.keys() - {BOOKKEEPING}:
                _fill(connection, name)
            _execute(connection, view_statements())
            _execute(connection, table_statements(MANIFEST))
            connection.execute("insert into bundle values (?, ?)", [manifest["name"], json.dumps(manifest, ensure_ascii=False)])
            connection.execute("use memory")
            connection.execute("detach made")
        os.replace(part, file)
    finally:
        _remove(part)


def _fill(connection: Any, name: str) -> None:
    shape = TABLES[name]
    _execute(connection, table_statements(shape))
    source = "texts.texts" if name == "texts" else f'memory.main."{name}"'
    key = ", ".join(f'"{column}"' for column in shape.key)
    connection.execute(f'insert into "{name}" select * from {source} order by {key}')


def _execute(connection: Any, statements: Any) -> None:
    for statement in statements:
        connection.execute(statement.replace("texts.texts", "texts"))  # one file: nothing is attached to it


def check_target(file: Path) -> None:
    """Raises HbenchError where `write_file` could not write `file`, or would write over something else."""
    if not file.parent.is_dir():
        raise HbenchError(f"there is no folder {file.parent} to write {file.name} into")
    if file.exists() and not is_bundle_file(file):
        raise HbenchError(f"{file} is there and was not written by `hbench export`: remove it, or give another name")


def is_bundle_file(file: Path) -> bool:
    """Whether `write_file` made it."""
    import duckdb

    try:
        with duckdb.connect(str(file), read_only=True) as connection:
            return ("bundle",) in connection.execute("select table_name from duckdb_tables()").fetchall()
    except duckdb.Error:
        return False


def _remove(part: Path) -> None:
    for file in (part, part.with_name(part.name + ".wal")):
        file.unlink(missing_ok=True)
