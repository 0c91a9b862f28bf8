"""Whether a results folder still holds what was put there: every finished step by its digest, every bundle by its list.

No digest covers a step's times and hosts (volatile columns), its parameters, plans, journals of runs, or what models said
(replies/). The databases are not looked at: `hbench db rebuild` makes them of what is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from hbench.core.digest import Json, digest
from hbench.core.failure import HbenchError, StepError
from hbench.core.folder_digest import file_digest
from hbench.core.published import ADAPTERS, BUNDLE, ROWS, SPECS, published_roots
from hbench.store.bundle import read_manifest
from hbench.store.packing import file_digests, parquet_file
from hbench.store.parquet import parquet_rows
from hbench.store.reading import read_record
from hbench.store.rows import Digester
from hbench.store.tables import TABLES

AGAIN = "remove the folder to run its step again"


@dataclass(frozen=True)
class Verified:
    """steps, bundles: how many were looked at. faults: one sentence each, which names the place; () where all is whole."""

    steps: int
    bundles: int
    faults: tuple[str, ...]


def verify(results: Path) -> Verified:
    """Reads all that is finished in `results`, and every bundle found from there. Raises nothing for what it finds."""
    steps, bundles = finished(results), sorted(_bundles(results))
    faults = [f"{folder}: {said}" for folder in steps if (said := step_fault(folder))]
    return Verified(len(steps), len(bundles), (*faults, *chain.from_iterable(map(bundle_faults, bundles))))


def finished(results: Path) -> list[Path]:
    """The folders of finished steps, sorted; names with a dot are leases, and artifacts that are not finished."""
    return sorted(folder for folder in (results / "steps").glob("??/*") if "." not in folder.name and folder.is_dir())


def step_fault(folder: Path) -> str | None:
    """What is wrong with the finished step in `folder`; None where it is as it was when it was finished."""
    import duckdb

    try:
        record = read_record(folder, rows=True)
        if record is None:
            return f"step.json is gone; {AGAIN}"
        if record["key"] != folder.name or not folder.name.startswith(folder.parent.name):
            return f"it holds the step {record['key']}; move it to its own place, or remove the folder"
        contents = {"value": record["value"], "files": file_digests(folder), "rows": _digests(folder, record)}
        same = digest(contents) == record["digest"]
    except StepError as told:
        return str(told).removeprefix(f"{folder} ").removeprefix(f"{folder}/")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, duckdb.Error) as broken:
        return f"it cannot be read ({str(broken).splitlines()[0]}); {AGAIN}"
    return None if same else f"its value, rows or files are not those it was finished with; {AGAIN}"


def _digests(folder: Path, record: Json) -> dict[str, str]:
    """table -> digest of its rows as they lie there now. Raises StepError where they are of tables that are not known."""
    if unknown := sorted((record["rows"].keys() | record["counts"].keys()) - TABLES.keys()):
        raise StepError(f"{folder} has rows of tables that this hbench does not know: {', '.join(unknown)}")
    digester = Digester()
    for table in record["rows"].keys() | record["counts"].keys():
        for row in _rows(folder, record, table):
            digester.add(table, {name: value for name, value in row.items() if value is not None})
    return digester.digests()


def _rows(folder: Path, record: Json, table: str) -> Iterable[dict]:
    return record["rows"][table] if table in record["rows"] else parquet_rows(table, parquet_file(folder, table))


def _bundles(results: Path) -> set[Path]:
    return {folder for root in published_roots(results) for folder in root.iterdir() if folder.is_dir() and folder.name[0] != "."}


def bundle_faults(folder: Path) -> list[str]:
    """What is wrong with the bundle in `folder`: files that are not those it names, and such as it does not name."""
    if not (folder / BUNDLE).is_file():
        return [f"{folder} holds no {BUNDLE}: it is no bundle, or not a whole one"]
    try:
        named = {folder / name: known["sha256"] for name, known in read_manifest(folder)["files"].items()}
        there = {file for sort in (ROWS, SPECS, ADAPTERS) for file in (folder / sort).rglob("*") if not file.is_dir()}
        gone, stray = sorted(named.keys() - there), sorted(there - named.keys())
        changed = [file for file in sorted(named.keys() & there) if file_digest(file) != named[file]]
    except (HbenchError, OSError) as broken:
        return [str(broken)]
    said = ((gone, "is gone"), (changed, f"is not the file that {BUNDLE} names"), (stray, f"is named nowhere in {BUNDLE}"))
    return [f"{file} {what}" for files, what in said for file in files]
