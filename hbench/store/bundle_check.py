"""Whether rows that somebody else wrote are those of hbench's tables: known columns, values of their types, keys once each."""

from collections.abc import Sequence
from contextlib import closing
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.core.published import ROWS
from hbench.store.bundle_rows import MADE_ANEW
from hbench.store.parquet import memory, quoted
from hbench.store.table import Column, Table
from hbench.store.tables import TABLES

BOUND = {"memory_limit": "2GB", "max_temp_directory_size": "0KiB"}  # a small file may unpack to a huge one


def check_rows(folder: Path, shown: object) -> None:
    """Reads every file of rows in `folder` to its end. Raises HbenchError, which calls the folder `shown`."""
    import duckdb

    with closing(memory(BOUND)) as connection:
        for file in sorted((folder / ROWS).glob("*.parquet")):
            try:
                _check_file(connection, file)
            except (duckdb.Error, HbenchError) as error:
                raise HbenchError(f"{shown}: {ROWS}/{file.name}: {str(error).splitlines()[0]}") from None


def _check_file(connection: Any, file: Path) -> None:
    table, source = _table_of(file.stem), f"read_parquet('{quoted(file)}')"
    there = [name for name, *_ in connection.execute(f"describe select * from {source}").fetchall()]
    check_columns(table, there)
    for column in (c for c in table.columns if c.name in there):
        _check_values(connection, column, source)
    _check_key(connection, table, source)


def _check_values(connection: Any, column: Column, source: str) -> None:
    import duckdb

    try:  # hashed, so that every value is really converted
        connection.execute(f'select bit_xor(hash("{column.name}"::{column.type})) from {source}').fetchall()
    except duckdb.ConversionException as error:
        raise HbenchError(f"the column {column.name} does not hold {column.type}: {str(error).splitlines()[0]}") from None


def _table_of(name: str) -> Table:
    """The table of that name that a bundle may hold."""
    if name not in TABLES or name in MADE_ANEW:
        raise HbenchError(f"hbench has no table {name!r}; a newer one may have written it{_near(name, list(TABLES))}")
    return TABLES[name]


def check_columns(table: Table, found: Sequence[str]) -> None:
    """Raises HbenchError for a column that the table has not, and for a key that is not there."""
    known = [column.name for column in table.columns]
    if odd := [name for name in found if name not in known]:
        raise HbenchError(f"the table {table.name} has no column {odd[0]!r}{_near(odd[0], known)}")
    if lacking := [name for name in table.key if name not in found]:
        raise HbenchError(f"the column {lacking[0]} is missing, by which rows of {table.name} are told apart")


def _check_key(connection: Any, table: Table, source: str) -> None:
    key = ", ".join(f'"{name}"' for name in table.key)
    whole = table.key if table.sort in ("step", "shared", "store") else table.key[:1]  # labels may lack a round or a slot
    null = " or ".join(f'"{name}" is null' for name in whole)
    empty = connection.execute(f"select count(*) from {source} where {null}").fetchone()[0]
    twice = connection.execute(f"select count(*) from (select 1 from {source} group by {key} having count(*) > 1)").fetchone()[0]
    if empty or twice:
        told = f"{empty} rows have no key" if empty else f"{twice} keys occur more than once"
        raise HbenchError(f"{told} ({', '.join(table.key)})")


def _near(word: str, known: Sequence[str]) -> str:
    near = get_close_matches(word, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
