"""One query of the SQL box, as the process of its own does it that `ask` of sql_process.py starts.

DuckDB's own limits do not hold everything (a list of a billion numbers is built past them), so the process has limits of
its own, and whoever started it ends it when its time is over. It yields to runs that want the processor.
"""

import json
import os
import re
import resource
import time
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.core.published import BUNDLE, ROWS
from hbench.store.parquet import quoted
from hbench.store.query import open_read_only
from hbench.view.reading import place_of

MEMORY_MB = 1024  # of DuckDB; the process may have some more
PROCESS_MB = 3072
RETRY_S = 5.0  # while a fold has the database
_READING = ("select", "with", "from", "values", "table", "(", "pivot", "unpivot", "describe", "desc", "show", "summarize")
_SPACE = re.compile(r"\s+|--[^\n]*(\n|$)|/\*.*?\*/|;", re.S)
_EXPLAIN = re.compile(r"explain\b(?:\s+analyze\b|\s*\([^)]*\))?", re.I)


@dataclass(frozen=True)
class Most:
    """What one query may give and take: rows, characters in all, seconds of processor time."""

    rows: int
    characters: int
    seconds: int = 15


def answer(folder: Path, sql: str, most: Most, exhibit: str | None = None) -> dict[str, Any]:
    """columns, rows, more (there would be others), seconds. Raises HbenchError for what is refused or fails.

    exhibit: what its SQL gives is then the table `units`.
    """
    import duckdb

    began = time.monotonic()
    try:
        with _opened(folder, exhibit) as connection:
            _guard(connection, folder)
            for statement in _checked(connection, sql):
                result = connection.execute(statement)
            columns = [name for name, *_ in result.description or ()]
            found, more = _fetched(result, most)
    except duckdb.Error as error:
        raise HbenchError(str(error)) from error
    return {"columns": columns, "rows": found, "more": more, "seconds": time.monotonic() - began}


def _opened(folder: Path, exhibit: str | None) -> AbstractContextManager[Any]:
    if exhibit is None:
        return closing(open_read_only(folder, RETRY_S))
    from hbench.exhibits.exhibit import opened_units

    results, bundle = place_of(folder)
    return opened_units(exhibit, results, bundle)


def _guard(connection: Any, folder: Path) -> None:
    """From here on it reaches nothing but tables, and its settings are fixed."""
    if (folder / BUNDLE).exists():
        files = ", ".join(f"'{quoted(file)}'" for file in (folder / ROWS).glob("*.parquet"))
        connection.execute(f"set allowed_paths = [{files}]")  # what the bundle's tables are views of
    connection.execute(f"set memory_limit = '{MEMORY_MB}MB'")
    connection.execute("set temp_directory = ''")  # what does not fit into memory fails, and fills no disk
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _checked(connection: Any, sql: str) -> list[Any]:
    """The statements, all of which only read. Raises HbenchError."""
    statements = connection.extract_statements(sql)
    if not statements:
        raise HbenchError("no SQL given; for instance: select * from held_out")
    for statement in statements:
        _check(connection, statement)
    return statements


def _check(connection: Any, statement: Any) -> None:
    """The parser says what a statement is, but not of one with a pivot, nor what is explained: there its first word does."""
    kind, text = statement.type.name, _begun(statement.query)
    explained = _EXPLAIN.match(text)
    if explained:
        inner = text[explained.end() :]
        if len(found := connection.extract_statements(inner)) == 1:
            return _check(connection, found[0])
    elif kind in ("SELECT", "MULTI") and text.lower().startswith(_READING):
        return None
    word = (re.match(r"\w+", text) or [kind])[0].lower()
    raise HbenchError(f"{word} is refused: this box only reads; to change something, work on a copy of the database")


def _begun(text: str) -> str:
    """The statement without the blanks and comments before it."""
    at = 0
    while space := _SPACE.match(text, at):
        at = space.end()
    return text[at:]


def _fetched(result: Any, most: Most) -> tuple[list[list[Any]], bool]:
    found: list[list[Any]] = []
    size = 0
    while batch := result.fetchmany(100):
        for row in batch:
            if len(found) == most.rows or size > most.characters:
                return found, True
            cells = [_plain(value, most.characters // 4) for value in row]
            size += sum(len(cell) if isinstance(cell, str) else 8 for cell in cells)
            found.append(cells)
    return found, False


def _plain(value: Any, most: int) -> Any:
    """What JSON can hold of it."""
    value = float(value) if isinstance(value, Decimal) else value
    if value is None or isinstance(value, bool | int | float):
        return value if value == value and value not in (float("inf"), float("-inf")) else str(value)
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= most else text[:most] + f" … ({len(text)} characters)"


def work(pipe: Any, folder: Path, sql: str, most: Most, exhibit: str | None) -> None:
    """Sends two messages: an empty one when it begins, and the answer, or `error`, as JSON."""
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_AS, (PROCESS_MB << 20, PROCESS_MB << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (most.seconds, most.seconds + 2))  # beyond it, the process ends
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe.send_bytes(b"")
    try:
        told = answer(folder, sql, most, exhibit)
    except HbenchError as bad:
        told = {"error": str(bad)}
    except MemoryError:
        told = {"error": "the query needs more memory than it may have"}
    pipe.send_bytes(json.dumps(told).encode())
