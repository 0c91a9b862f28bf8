"""What a step returns, and what it is handed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hbench.core.digest import Json

Row = Mapping[str, Json]


@dataclass(frozen=True)
class Output:
    """value: small JSON that later steps read. rows: table name -> rows, columns as in store/tables.py.

    Rows already appended to the step's part folder need not be repeated here. `texts` is a table like any other:
    rows of {digest, text}. files: name -> path of something to keep beside the rows (adapters, tokenised rows).
    """

    value: Json
    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Artifact:
    """The same on disk, under its key. digest: of value, files and rows without volatile columns."""

    key: str
    value: Json
    digest: str
    folder: Path
    read_rows: Callable[[str], list[dict]] = field(repr=False, compare=False)

    def rows(self, table: str) -> list[dict]:
        """Every row of `table` in this artifact, in the order written; [] when it has none."""
        return self.read_rows(table)
