"""Reading for the page: short read-only queries, on what has finished by now."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.core.published import BUNDLE
from hbench.store.bundle import open_bundle
from hbench.store.database import MAIN, fold
from hbench.store.query import Result, open_read_only
from hbench.view.processes import apart

CATCH_UP_EVERY_S = 2.0
CATCH_UP_WAIT_S = 0.25  # a page does not wait longer for a fold: it shows what there is
LIMIT_S = 20.0  # of one query of a page
RETRY_S = 5.0  # while a fold has the database


class Asked:
    """Answers queries."""

    def query(self, sql: str, values: Sequence[Any] = ()) -> Result:
        """What a statement of the page's own gives, `?` in it filled with `values`. Raises HbenchError."""
        raise NotImplementedError

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """The same, each row as column -> value."""
        found = self.query(sql, values)
        return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


class Reading(Asked):
    """folder: a results folder, or that of a published bundle. Safe from any thread.

    A run that writes into the folder is not held up: a query holds the database while it runs, and folding gets round
    that with a copy.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.is_bundle = (folder / BUNDLE).exists()
        # Opened once: a bundle does not change, and checking its files takes half a second.
        self._bundle = open_bundle(folder) if self.is_bundle else None
        self._caught_up_at = -CATCH_UP_EVERY_S
        self._folding: threading.Thread | None = None
        self._starting = threading.Lock()

    def query(self, sql: str, values: Sequence[Any] = ()) -> Result:
        with closing(self._opened()) as connection:
            return _asked(connection, sql, values)

    def _opened(self) -> Any:
        if not self.is_bundle:
            return open_read_only(self.folder, RETRY_S)
        cursor = self._bundle.cursor()
        cursor.execute("create temp view texts as select * from texts.texts")  # as open_read_only has it
        return cursor

    @contextmanager
    def held(self) -> Iterator["Held"]:
        """For the queries of one page: one connection, opened for the first and closed at the end. For one thread."""
        held = Held(self._opened)
        try:
            yield held
        finally:
            held.close()

    @property
    def is_empty(self) -> bool:
        """There is no database yet: nothing was ever run here."""
        return not self.is_bundle and not (self.folder / MAIN).exists()

    def catch_up(self, wait_s: float = CATCH_UP_WAIT_S) -> None:
        """Folds what has finished, now and then; waits at most so long for that."""
        if self.is_bundle:
            return
        with self._starting:
            resting = time.monotonic() - self._caught_up_at < CATCH_UP_EVERY_S
            if self._folding is None and not resting:
                self._folding = threading.Thread(target=self._fold, name="hbench fold", daemon=True)
                self._folding.start()
            folding = self._folding
        if folding is not None:
            folding.join(wait_s)

    def _fold(self) -> None:
        with suppress(HbenchError):  # whatever is wrong with the database, a query says it better
            apart(fold, self.folder)
        self._caught_up_at = time.monotonic()
        self._folding = None


def place_of(folder: Path) -> tuple[Path, str | None]:
    """The results folder, and the bundle that is read in place of it, None for no bundle."""
    return (folder.parent.parent, folder.name) if (folder / BUNDLE).exists() else (folder, None)


class Held(Asked):
    """A connection to what a Reading reads, kept for some queries. Opening one takes longer than most queries."""

    def __init__(self, opened: Callable[[], Any]):
        self._opened, self._connection = opened, None

    def query(self, sql: str, values: Sequence[Any] = ()) -> Result:
        self._connection = self._connection or self._opened()
        return _asked(self._connection, sql, values)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _asked(connection: Any, sql: str, values: Sequence[Any]) -> Result:
    import duckdb

    stop = threading.Timer(LIMIT_S, connection.interrupt)
    stop.start()
    try:
        answer = connection.execute(sql, list(values) or None)
        return Result(tuple(name for name, *_ in answer.description or ()), answer.fetchall())
    except duckdb.InterruptException:
        raise HbenchError(f"the query took longer than {LIMIT_S:.0f} s and was stopped") from None
    except duckdb.Error as error:
        raise HbenchError(str(error)) from error
    finally:
        stop.cancel()
