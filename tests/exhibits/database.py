"""A real DuckDB database with hand-made rows."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hbench.store.tables import TABLES


def empty() -> Any:
    """An open connection with every table, and no row."""
    import duckdb

    connection = duckdb.connect()
    for table in TABLES.values():
        columns = ", ".join(f'"{c.name}" {c.type}' for c in table.columns)
        connection.execute(f"create table {table.name} ({columns})")
    return connection


def filled(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Any:
    connection = empty()
    with tempfile.TemporaryDirectory() as folder:
        for name, its in rows.items():
            file = Path(folder) / f"{name}.jsonl"
            file.write_text("\n".join(json.dumps(row, default=str) for row in its))
            types = {column.name: column.type for column in TABLES[name].columns}
            connection.execute(f"insert into {name} by name select * from read_json('{file}', columns = {types})")
    return connection
