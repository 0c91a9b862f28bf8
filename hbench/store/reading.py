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
from hbench.store.tables import OLDEST, SCHEMA

PIECE = 1 << 16  # bytes read at once: more than nearly every first line has


def read_artifact(folder: Path) -> Artifact | None:
    """The artifact in `folder`, None when there is none. Its rows are read when asked for.

    Finding out takes one file-system call, reading one more, and closing. Raises StepError for one that cannot be read.
    """
    record = read_record(folder)
    if record is None:
        return None
    return Artifact(record["key"], record["value"], record["digest"], folder, partial(_read_rows, folder))


def read_record(folder: Path, rows: bool = False) -> dict[str, Json] | None:
    """step.json as written, `rows` only when asked for; None when it is not there."""
    try:
        handle = os.open(f"{folder}/step.json", os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        text = _whole(handle) if rows else _first_line(handle)
    finally:
        os.close(handle)
    try:
        record = json.loads(str(text if rows else text.removesuffix(b",") + b"}", "utf-8", "surrogatepass"))
        age = age_of(record["schema"])
    except (ValueError, KeyError, TypeError) as broken:
        raise StepError(f"{folder}/step.json is broken ({broken}); remove the folder to run its step again") from None
    if age:
        raise StepError(f"{folder} was written by {age} hbench; use that one, or another results folder")
    return record


def age_of(schema: int) -> str:
    """"a newer" or "an older" for what this hbench cannot read, "" for what it can. Raises TypeError for no number."""
    return "a newer" if schema > SCHEMA else "an older" if schema < OLDEST else ""


def _first_line(handle: int) -> bytes:
    """Of a file that was just opened. On a network each call takes a millisecond, so it asks for nothing else."""
    text = b""
    while b"\n" not in text:
        piece = os.read(handle, PIECE)
        if not piece:
            break
        text += piece
    return text.partition(b"\n")[0]


def _whole(handle: int) -> bytes:
    return b"".join(iter(lambda: os.read(handle, PIECE), b""))


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
