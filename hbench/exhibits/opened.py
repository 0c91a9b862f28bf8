"""Where exhibits read from: the results folder and bundles, each opened once for as many exhibits as are made."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from hbench.exhibits.bundled import absent_bundles, asked_bundle, bundle_sources, bundled_spec, told_of
from hbench.exhibits.sources import Source, count_newest_runs, load_sources

FOLD_WAIT_S = 5.0  # for another process that folds
READ_WAIT_S = 10.0  # for a fold that has the database
NOTHING = Path("<nothing>")  # stands for a place without a row


@dataclass(frozen=True)
class Place:
    """connection: to rows. sources: whose rows count. told: a caption's sentences on where they are from."""

    connection: Any
    sources: Sequence[Source]
    told: tuple[str, ...] = ()


class Opened:
    """The results folder and its bundles, for reading; a folder that holds no results reads as one without a row."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self._stack = ExitStack()
        self._connections: dict[Path, Any] = {}
        self._specs: dict[str, Sequence[Any]] = {}  # as they were read, by name
        self._stale: tuple[str, ...] = ()

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def place(self, names: Sequence[str], bundle: str | None = None) -> Place:
        """What an exhibit over the specs `names` reads from. bundle: read that one in place of the results folder.

        A bundle that `names` speak of and that is not here has no rows: its specs are missing, like any that were not run.
        """
        if bundle is None and (absent := absent_bundles(names, self.results)):
            specs = [spec for name in names if (spec := bundled_spec(name))]
            connection = self._connection(NOTHING)
            return Place(connection, load_sources(connection, specs, self._specs), (f"{', '.join(absent)} is not here.",))
        if folder := asked_bundle(names, bundle, self.results):
            return Place(self._connection(folder), bundle_sources(folder, names), (told_of(folder, names),))
        connection = self._connection(self.results)
        return Place(connection, load_sources(connection, names, self._specs), self._stale)

    def _connection(self, folder: Path) -> Any:
        if folder not in self._connections:
            connection = self._stack.enter_context(closing(self._opened(folder)))
            count_newest_runs(connection, [])
            self._connections[folder] = connection
        return self._connections[folder]

    def _opened(self, folder: Path) -> Any:
        """Of the results folder finished steps are folded in first."""
        from hbench.store.bundle import open_bundle
        from hbench.store.database import MAIN, fold
        from hbench.store.query import open_read_only

        if folder != self.results:
            return open_bundle(None if folder == NOTHING else folder)
        folded = fold(folder, wait_s=FOLD_WAIT_S).how
        if folded in ("busy", "held", "failed"):
            self._stale = (f"Made from a database that was not up to date: {folded}.",)
        return open_read_only(folder, READ_WAIT_S) if (folder / MAIN).exists() else open_bundle(None)
