"""Finished artifacts, read from their folders."""

import json
import os
from contextlib import suppress
from functools import partial
from pathlib import Path

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.output import Artifact
from hbench.store.packing import parquet_file
from hbench.store.parquet import read_parquet
from hbench.store.rows import whole
from hbench.store.tables import SCHEMA


def read_artifact(folder: Path) -> Artifact | None:
    """The artifact in `folder`, None when there is none. Its rows are read when asked for.

    Finding out takes one file-system call, reading two more. Raises StepError for one that cannot be read.
    """
    record = read_record(folder)
    if record is None:
        return None
    return Artifact(record["key"], record["value"], record["digest"], folder, partial(_read_rows, folder))


def read_record(folder: Path, rows: bool = False) -> dict[str, Json] | None:
    """step.json as written, `rows` only when asked for; None when it is not there."""
    try:
        handle = os.open(folder / "step.json", os.O_RDONLY)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb", buffering=0) as file:
        text = file.readall()
    try:
        record = json.loads(text if rows else text.partition(b",\n")[0] + b"}")
        newer = record["schema"] > SCHEMA
    except (ValueError, KeyError, TypeError) as broken:
        raise StepError(f"{folder}/step.json is broken ({broken}); remove the folder to run its step again") from None
    if newer:
        raise StepError(f"{folder} was written by a newer hbench; use that one, or another results folder")
    return record


def _read_rows(folder: Path, table: str) -> list[dict]:
    record = read_record(folder, rows=True)
    if record is None:
        raise StepError(f"{folder} is gone")
    if table in record["rows"]:
        return [whole(table, row) for row in record["rows"][table]]
    with suppress(FileNotFoundError):
        if table in record["counts"]:
            return read_parquet(table, parquet_file(folder, table))
    return []
