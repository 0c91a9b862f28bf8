"""The tables and views as DuckDB has them: made from store/tables.py and store/views.py, comments included."""

import hashlib
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any

from hbench.store.database_file import DatabaseFile
from hbench.store.table import Table
from hbench.store.tables import SCHEMA, TABLES
from hbench.store.views import views


def create(main: DatabaseFile, texts: DatabaseFile) -> None:
    """Makes both databases, empty, and keeps them open: opening one takes 15 ms."""
    texts.keep_open()
    with texts.opened(read_only=False) as database:
        _execute(database, table_statements(TABLES["texts"]))
    main.keep_open()
    with main.opened(read_only=False) as database:
        _execute(database, chain.from_iterable(table_statements(t) for t in TABLES.values() if t.name != "texts"))
        database.execute("attach ':memory:' as texts")  # event_texts looks into it; the file is open already
        database.execute(f"create table texts.texts ({_columns(TABLES['texts'])})")
        _execute(database, view_statements())
        database.execute("detach texts")
        database.execute("insert into folded values ('schema', ?)", [stamp()])


@cache
def stamp() -> str:
    """Tells databases with these very tables and views from others."""
    statements = [s for table in TABLES.values() for s in table_statements(table)] + list(view_statements())
    return f"{SCHEMA} {hashlib.sha256(chr(10).join(statements).encode()).hexdigest()[:16]}"


def _execute(database: Any, statements: Iterator[str]) -> None:
    # In one transaction, else each of the hundreds of comments would wait for the disk; and in one call. The optimizer, which
    # finds nothing in them, would take a third of the time.
    database.execute(";\n".join(["pragma disable_optimizer", "begin", *statements, "commit", "pragma enable_optimizer"]))


def table_statements(table: Table) -> Iterator[str]:
    """What makes `table`, comments included, where the connection stands."""
    yield f'create table "{table.name}" ({_columns(table)})'
    comment = f"{table.comment} Key: {', '.join(table.key)}."
    yield f'comment on table "{table.name}" is {_literal(comment)}'
    for column in table.columns:
        yield f'comment on column "{table.name}"."{column.name}" is {_literal(column.comment)}'


def view_statements() -> Iterator[str]:
    """What makes every view."""
    for view in views():
        yield view.sql
        yield f"comment on view {view.name} is {_literal(view.comment)}"


def _columns(table: Table) -> str:
    return ", ".join(f'"{c.name}" {c.type}' for c in table.columns)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
