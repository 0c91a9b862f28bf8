"""Reading the database: one read-only statement at a time, with texts.duckdb attached as `texts`.

A published bundle is read in the same way: its folder stands in place of the results folder.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.core.published import BUNDLE
from hbench.store.bundle import open_bundle
from hbench.store.database import MAIN, TEXTS
from hbench.store.database_file import Broken, DatabaseFile, Held, connect, is_held
from hbench.store.parquet import quoted

_READING = ("SELECT", "EXPLAIN", "CALL", "PRAGMA", "MULTI")  # MULTI: what DuckDB makes of `pivot`


@dataclass(frozen=True)
class Result:
    """rows: one tuple a row, as long as `columns`. JSON columns hold text, times have no zone and are UTC."""

    columns: tuple[str, ...]
    rows: list[tuple]


def query(folder: Path | str, sql: str, values: Sequence[Any] = (), *, retry_s: float = 10.0) -> Result:
    """What `sql` (one or more reading statements, the last one's rows) gives on the results, or the bundle, in `folder`.

    values: for `?` in a single statement. Sees what was folded last; does not fold. Waits up to `retry_s` while a
    fold has the database. Raises HbenchError for a missing database, a writing statement or faulty SQL.
    """
    with _answered(Path(folder), sql, values, retry_s) as answer:
        columns = tuple(name for name, *_ in answer.description or ())
        return Result(columns, answer.fetchall() if columns else [])


def query_frame(folder: Path | str, sql: str, values: Sequence[Any] = (), *, retry_s: float = 10.0) -> Any:
    """The same as a pandas DataFrame."""
    with _answered(Path(folder), sql, values, retry_s) as answer:
        return answer.df()


@contextmanager
def _answered(folder: Path, sql: str, values: Sequence[Any], retry_s: float) -> Iterator[Any]:
    connection = open_read_only(folder, retry_s)
    try:
        with _failing_plainly():
            yield _run(connection, sql, values)
    finally:
        connection.close()


def ask(connection: Any, sql: str) -> Result:
    """The same as `query` from a connection that is open already."""
    with _failing_plainly():
        answer = _run(connection, sql, ())
        columns = tuple(name for name, *_ in answer.description or ())
        return Result(columns, answer.fetchall() if columns else [])


def _run(connection: Any, sql: str, values: Sequence[Any]) -> Any:
    statements = connection.extract_statements(sql)
    for statement in statements:
        if statement.type.name not in _READING:
            raise HbenchError(
                f"{statement.type.name.lower()} is refused: the database is made from steps/ and only read here; "
                "`--format csv` saves a result, and to change something, work on a copy of the file"
            )
    if not statements:
        raise HbenchError("no SQL given; for instance: select * from held_out")
    for statement in statements:
        answer = connection.execute(statement, list(values) or None)
    return answer


@contextmanager
def _failing_plainly() -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise HbenchError(str(error)) from error


def open_read_only(folder: Path, retry_s: float) -> Any:
    """A read-only connection to the database (or the bundle) in `folder` with its texts, for the caller to close.

    A fold may hold the file, or just be putting another one in its place: both pass, and are waited for up to
    `retry_s`. Raises HbenchError when there is no database, or none that can be opened.
    """
    import duckdb

    if (folder / BUNDLE).exists():
        return open_bundle(folder)
    if not (folder / MAIN).exists() or not (folder / TEXTS).exists():
        raise HbenchError(f"no database in {folder}/ yet: run `hbench run SPEC`, or `hbench db rebuild` for old steps")
    began = time.monotonic()
    while True:
        try:
            return _attached(folder)
        except (Held, Broken, duckdb.Error) as trouble:
            held = isinstance(trouble, Held) or is_held(trouble)
            if time.monotonic() - began > (retry_s if held else min(retry_s, 1.0)):
                raise HbenchError(_explained(folder, held, trouble)) from trouble
        time.sleep(0.01)


def _attached(folder: Path) -> Any:
    connection = connect(DatabaseFile(folder / MAIN), read_only=True, patience_s=0.0)
    try:
        # Connections of one process to one file share what is attached: another thread may have done it.
        connection.execute(f"attach if not exists '{quoted(folder / TEXTS)}' as texts (read_only)")
        connection.execute("create temp view texts as select * from texts.texts")
        return connection
    except BaseException:
        connection.close()
        raise


def _explained(folder: Path, held: bool, trouble: Exception) -> str:
    if held:
        return f"{folder / MAIN} is open for writing elsewhere; close it there, or try again"
    return f"{folder / MAIN} cannot be read ({trouble}); `hbench db rebuild` makes it anew from steps/"
