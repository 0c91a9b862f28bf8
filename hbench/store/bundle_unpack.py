"""A DuckDB file of somebody else's, made a bundle again. Its views and macros are passed over; they could read files."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.core.folder_digest import file_digest
from hbench.core.published import ADAPTERS, BUNDLE, ROWS
from hbench.store.bundle_check import BOUND, check_columns
from hbench.store.bundle_rows import MADE_ANEW
from hbench.store.manifest import check_manifest
from hbench.store.parquet import CONFIG, memory, quoted
from hbench.store.table import Table
from hbench.store.tables import TABLES


def unpack(file: Path, folder: Path) -> None:
    """Writes rows and bundle.json of `file` (see store/bundle_file.py) into `folder`. Raises HbenchError for any other file.

    The file is opened by a connection that may open nothing else, and its values are converted by another one, which
    knows none of its types and functions.
    """
    import duckdb

    try:
        with closing(_locked(file)) as theirs, closing(memory(BOUND)) as ours:
            told = _told(theirs)
            (folder / ROWS).mkdir()
            for table in (t for t in TABLES.values() if t.name not in MADE_ANEW):
                _write(theirs, ours, table, folder / ROWS / f"{table.name}.parquet")
    except duckdb.Error as error:
        raise HbenchError(f"{file}: {str(error).splitlines()[0]}") from None
    except HbenchError as error:
        raise HbenchError(f"{file}: {error}") from None
    files = {f"{ROWS}/{f.name}": {"sha256": file_digest(f), "bytes": f.stat().st_size} for f in sorted((folder / ROWS).iterdir())}
    told |= {"arms": {}, "adapters": {}, "files": files, "without": sorted({*told.get("without", ()), ADAPTERS})}
    (folder / BUNDLE).write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _locked(file: Path) -> Any:
    """A connection to `file` that can read no other, nor be talked into it."""
    import duckdb

    try:
        connection = duckdb.connect(str(file), read_only=True, config={**CONFIG, **BOUND, "enable_external_access": "false"})
    except duckdb.Error as error:
        told = "is no DuckDB file that can be read here; a bundle is a folder or such a file (unpack an archive first)"
        raise HbenchError(f"{told}: {str(error).splitlines()[0]}") from None
    connection.execute("set lock_configuration = true")
    return connection


def _told(theirs: Any) -> Any:
    """The bundle.json that it was made of."""
    if not _has_table(theirs, "bundle"):
        raise HbenchError("holds no table `bundle`: `hbench export … --duckdb FILE` did not write it")
    rows = theirs.execute('select manifest::varchar from main."bundle"').fetchall()
    try:
        told = json.loads(rows[0][0])
    except (IndexError, TypeError, ValueError) as error:
        raise HbenchError(f"its table `bundle` cannot be read: {error}") from None
    check_manifest(told, "its table `bundle`")
    return told


def _has_table(theirs: Any, name: str) -> bool:
    """Whether it is a table: a view of that name is SQL of somebody else's."""
    found = theirs.execute(
        "select table_type from information_schema.tables where table_schema = 'main' and table_name = ?", [name]
    ).fetchall()
    if found and found != [("BASE TABLE",)]:
        raise HbenchError(f"{name} is a view in it, not a table")
    return bool(found)


def _write(theirs: Any, ours: Any, table: Table, target: Path) -> None:
    import duckdb

    if not _has_table(theirs, table.name):
        return
    query = theirs.execute(
        "select column_name from information_schema.columns where table_schema = 'main' and table_name = ?", [table.name]
    )
    there = [name for (name,) in query.fetchall()]
    check_columns(table, there)
    names = ", ".join(f'"{c.name}"' for c in table.columns if c.name in there)
    casts = ", ".join(f'"{c.name}"::{c.type} as "{c.name}"' for c in table.columns if c.name in there)
    key = ", ".join(f'"{name}"' for name in table.key)
    ours.register("incoming", theirs.sql(f'select {names} from main."{table.name}"').to_arrow_reader())
    try:
        ours.execute(f"create or replace temp table arrived as select {casts} from incoming order by {key}")
    except duckdb.ConversionException as error:
        raise HbenchError(f"{table.name}: {str(error).splitlines()[0]}") from None
    ours.unregister("incoming")
    if ours.execute("select 1 from arrived limit 1").fetchone():
        ours.execute(f"copy arrived to '{quoted(target)}' (format parquet, compression zstd, compression_level 9)")
