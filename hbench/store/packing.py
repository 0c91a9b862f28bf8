"""How an artifact's rows and files are laid down in its folder, and what digest they have."""

import os
import shutil
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.folder_digest import file_digest, folder_digest
from hbench.store.parquet import Lines, passing, sync, write_parquet
from hbench.store.rows import Digester, Rows, encode, row_key

INLINE_BYTES = 64_000  # rows that together take less stay in step.json
SPOOL_BYTES = 2_000_000


@dataclass(frozen=True)
class Packed:
    """digests: table -> 64 hex digits. counts: table -> rows. inline: rows for step.json, {} when in Parquet files."""

    digests: Mapping[str, str]
    counts: Mapping[str, int]
    inline: Mapping[str, list[dict]] = field(default_factory=dict)


def pack_inline(records: Iterable[Rows]) -> Packed:
    """Rows to stand in step.json; of rows with equal keys the last one stays."""
    digester, tables = Digester(), {}
    for table, row in _each(records):
        digester.add(table, row)
        tables.setdefault(table, {})[row_key(table, row)] = row
    inline = {table: list(rows.values()) for table, rows in tables.items()}
    return Packed(digester.digests(), {table: len(rows) for table, rows in inline.items()}, inline)


def pack_parquet(records: Iterable[Rows], folder: Path, step_key: str) -> Packed:
    """Rows as rows/<table>.parquet and texts.parquet under `folder`; holds one record at a time in memory."""
    (folder / "rows").mkdir()
    digester, spools = Digester(), {}
    for table, row in _each(records):
        if table not in spools:
            spools[table] = _Spool(folder / "rows" / table)
        spools[table].add(row, digester.add(table, row))
    with passing() as database:
        for table, spool in spools.items():
            write_parquet(database, table, step_key, spool.closed(), parquet_file(folder, table))
            spool.remove()
    sync(folder / "rows")
    return Packed(digester.digests(), {table: spool.count for table, spool in spools.items()})


def parquet_file(folder: Path, table: str) -> Path:
    return folder / "texts.parquet" if table == "texts" else folder / "rows" / f"{table}.parquet"


def move_files(files: Mapping[str, Path], folder: Path) -> dict[str, str]:
    """Moves each of `files` (a file or a folder) to folder/files/<name>; name -> 64 hex digits of its contents."""
    digests = {}
    for name, source in files.items():
        target = folder / "files" / name
        if not target.resolve().is_relative_to((folder / "files").resolve()) or not Path(source).exists():
            raise StepError(f"cannot keep the file {name!r}: {source} is not there, or the name leads outside")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(source, target)
        digests[name] = _kept_digest(target)
    return digests


def file_digests(folder: Path) -> dict[str, str]:
    """What `move_files` gave for the files that are in `folder` now."""
    held = folder / "files"
    return {entry.name: tree_digest(entry) for entry in held.iterdir()} if held.is_dir() else {}


def tree_digest(path: Path) -> str:
    """64 hex digits of a file, or of a folder with all that is in it."""
    return file_digest(path) if path.is_file() else folder_digest(path, without=())


def _kept_digest(path: Path) -> str:
    """The same; it is on disk when this returns."""
    for file in [path] if path.is_file() else (p for p in path.rglob("*") if p.is_file()):
        sync(file)
    return tree_digest(path)


def clear(folder: Path, only: Container[str] = (), keep: Container[str] = ()) -> None:
    """Removes what is in `folder`: everything, or `only` some names, or all but those to `keep`."""
    for entry in os.scandir(folder):
        if entry.name in keep or (only and entry.name not in only):
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def _each(records: Iterable[Rows]) -> Iterable[tuple[str, dict]]:
    return ((table, row) for record in records for table, rows in record.items() for row in rows)


class _Spool:
    """One table's rows on their way into Parquet, in files of a few MB."""

    def __init__(self, stem: Path):
        self.count = 0
        self._stem, self._files, self._room = stem, [], 0
        self._longest, self._repeated = 0, False

    def add(self, row: Mapping[str, Json], repeated: bool) -> None:
        line = encode(row) + b"\n"
        if self._room <= 0:
            self._next_file()
        self._file.write(line)
        self._room -= len(line)
        self._longest = max(self._longest, len(line))
        self._repeated |= repeated
        self.count += not repeated

    def closed(self) -> Lines:
        self._file.close()
        return Lines(self._files, self._longest, self._repeated)

    def remove(self) -> None:
        for file in self._files:
            file.unlink()

    def _next_file(self) -> None:
        if self._files:
            self._file.close()
        self._files.append(self._stem.with_name(f"{self._stem.name}.{len(self._files)}.jsonl"))
        self._file, self._room = self._files[-1].open("wb"), SPOOL_BYTES
