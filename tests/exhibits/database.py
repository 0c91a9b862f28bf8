"""A real DuckDB database with hand-made rows."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hbench.store.tables import TABLES
from hbench.store.views import views


def empty() -> Any:
    """An open connection with every table and view, and no row; texts apart, as in a results folder."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("attach ':memory:' as texts")
    for table in TABLES.values():
        columns = ", ".join(f'"{c.name}" {c.type}' for c in table.columns)
        connection.execute(f"create table {_place(table.name)} ({columns})")
    for view in views():
        connection.execute(view.sql)
    connection.execute("create temp view texts as select * from texts.texts")
    return connection


def _place(table: str) -> str:
    return "texts.texts" if table == "texts" else table


def filled(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Any:
    connection = empty()
    with tempfile.TemporaryDirectory() as folder:
        for name, its in rows.items():
            file = Path(folder) / f"{name}.jsonl"
            file.write_text("\n".join(json.dumps(row, default=str) for row in its))
            types = {column.name: column.type for column in TABLES[name].columns}
            connection.execute(f"insert into {_place(name)} by name select * from read_json('{file}', columns = {types})")
    return connection
