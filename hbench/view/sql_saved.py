"""Saved queries: those that come with hbench, and a user's own as files <results>/queries/<name>.sql."""

import re
from dataclasses import dataclass
from pathlib import Path

from hbench.core.failure import HbenchError
from hbench.view.reading import Reading

SHIPPED = Path(__file__).parent / "queries"
_NAME = re.compile(r"[\w][\w .,()+-]{0,59}")
MOST_CHARACTERS = 100_000


@dataclass(frozen=True)
class Saved:
    """own: a user's, which may be overwritten and forgotten."""

    name: str
    sql: str
    own: bool


def saved(reading: Reading) -> list[Saved]:
    """By name; a user's own before those that come with hbench."""
    return [*_read(_folder(reading), True), *_read(SHIPPED, False)]


def save(reading: Reading, name: str, sql: str) -> None:
    """Raises HbenchError where it cannot be saved."""
    if not sql.strip() or len(sql) > MOST_CHARACTERS:
        raise HbenchError(f"a query to save has 1 to {MOST_CHARACTERS} characters")
    file = _file(reading, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(sql.strip().replace("\r\n", "\n") + "\n", encoding="utf-8")


def forget(reading: Reading, name: str) -> None:
    """Removes a user's own query; one that is not there is no trouble."""
    _file(reading, name).unlink(missing_ok=True)


def _file(reading: Reading, name: str) -> Path:
    if reading.is_bundle:
        raise HbenchError("a bundle is only read: save queries in a results folder")
    if not _NAME.fullmatch(name):
        raise HbenchError(f"a query's name has letters, digits, blanks and .,()+-, at most 60; got {name!r}")
    return _folder(reading) / f"{name}.sql"


def _folder(reading: Reading) -> Path:
    return reading.folder / "queries"


def _read(folder: Path, own: bool) -> list[Saved]:
    files = sorted(folder.glob("*.sql")) if folder.is_dir() else []
    return [Saved(file.stem, file.read_text(encoding="utf-8", errors="replace"), own) for file in files]
