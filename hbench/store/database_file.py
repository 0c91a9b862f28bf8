"""One DuckDB file that people may be reading: opened when free, else replaced by a copy.

DuckDB lets either one writer or any number of readers hold a file. A reader keeps the file it opened: one put in its
place disturbs nobody. A copy without its `.wal` loses committed rows, and a file put beside an old `.wal` cannot be
opened; so only files without one are copied, and an old one goes before the swap.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hbench.store.parquet import CONFIG, silent

_WRITING = {"memory_limit": "2GB"}
_BROKEN = ("valid duckdb", "corrupt", "checksum", "version number", "wal file", "serializ", "read enough bytes")


class Held(Exception):
    """Somebody else holds the file open."""

    def __init__(self, file: "DatabaseFile"):
        self.file = file


class Broken(Exception):
    """The file cannot be read as a database."""

    def __init__(self, file: "DatabaseFile", why: object):
        super().__init__(str(why).splitlines()[0])
        self.file = file


class DatabaseFile:
    """path: where readers find it. `replacement`: we work on another file that `swap` will put there."""

    def __init__(self, path: Path):
        self.path, self.replacement = path, False
        self._kept: Any = None  # a replacement is ours alone: opening it again and again would only cost time
        self._new = path.with_name(path.name + ".new")

    @property
    def wal(self) -> Path:
        return self.path.with_name(self.path.name + ".wal")

    @property
    def work(self) -> Path:
        return self._new if self.replacement else self.path

    @contextmanager
    def opened(self, read_only: bool, patience_s: float = 0.0) -> Iterator[Any]:
        """A connection. Raises Held when others keep the file for longer than `patience_s`, Broken when it is."""
        import duckdb

        connection = self._kept or connect(self, read_only, patience_s)
        try:
            yield connection
        except duckdb.Error as error:
            if connection is self._kept:
                self._let_go()  # closing ends a transaction that failed; the next one opens anew
            raise (Broken(self, error) if is_broken(error) else error) from error
        finally:
            if connection is not self._kept:
                connection.close()  # harmless twice

    def keep_open(self) -> None:
        """From now on, until it is swapped in or discarded, the replacement stays open."""
        self._kept = self._kept or connect(self, False, 0.0)

    def _let_go(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def start_anew(self) -> None:
        """Work on an empty file from now on."""
        self.discard()
        self.replacement = True

    def copy(self) -> None:
        """Work on a copy from now on. By another process: closing a file here would drop DuckDB's locks on it."""
        self.discard()
        done = subprocess.run(["cp", str(self.path), str(self._new)], capture_output=True, text=True)
        if done.returncode:
            raise OSError(done.stderr.strip())  # no space, most likely
        self.replacement = True

    def discard(self) -> None:
        """Forgets the replacement, also one that a killed process left."""
        self._let_go()
        self.replacement = False
        for leftover in (self._new, self._new.with_name(self._new.name + ".wal")):
            leftover.unlink(missing_ok=True)

    def swap(self) -> None:
        """Puts the replacement, whole and closed, where readers find it."""
        if not self.replacement:
            return
        with self.opened(read_only=False) as connection:
            connection.execute("checkpoint")
        self._let_go()
        self.wal.unlink(missing_ok=True)
        os.replace(self._new, self.path)
        self.replacement = False

    def put_aside(self) -> Path:
        """Renames a broken file, so that somebody may look at it; where it is now."""
        aside = self.path.with_name(f"{self.path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}")
        if self.path.exists():
            os.replace(self.path, aside)
        self.wal.unlink(missing_ok=True)
        return aside


def connect(file: DatabaseFile, read_only: bool, patience_s: float) -> Any:
    """A DuckDB connection to `file.work`; see `DatabaseFile.opened`."""
    import duckdb

    patience_ends = time.monotonic() + patience_s
    while True:
        try:
            config = CONFIG | ({} if read_only else _WRITING)
            return silent(duckdb.connect(str(file.work), read_only=read_only, config=config))
        except duckdb.Error as error:
            if not is_held(error):
                raise (Broken(file, error) if is_broken(error) else error) from error
            if time.monotonic() > patience_ends:
                raise Held(file) from error
        time.sleep(0.01)


def is_held(error: Exception) -> bool:
    """True when another process, or another sort of connection in this one, has the file open."""
    import duckdb

    said = str(error).lower()
    return isinstance(error, duckdb.ConnectionException) or "could not set lock" in said or "handle conflict" in said


def is_broken(error: Exception) -> bool:
    """True when the file's contents are at fault: no lack of space, memory or rights, and no faulty statement."""
    import duckdb

    fatal = (duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException)
    said = str(error).lower()
    if "no space left" in said:  # DuckDB gives up the whole database for that, and means no more than it says
        return False
    return isinstance(error, fatal) or (".parquet" not in said and any(word in said for word in _BROKEN))
