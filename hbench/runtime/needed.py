"""Which artifacts somebody still needs, for `hbench gc`: specs under specs/, bundles, and whoever worked here lately."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.core.places import published_roots, roots
from hbench.core.published import BUNDLE
from hbench.plan import compile
from hbench.runtime.foresee import keys
from hbench.store.query import open_read_only

_KEY = re.compile(r"\b[0-9a-f]{64}\b")


@dataclass(frozen=True)
class Needed:
    """keys: of artifacts. unread: specs whose plans could not be made, and why; what their newest runs made is in `keys`."""

    keys: frozenset[str]
    unread: tuple[str, ...]


def needed(results: Path, store: Any, since: float) -> Needed:
    """What a run of any spec under specs/ would find, what they name by key, and what bundles hold.

    Of these specs, and of those that ship with hbench, also what their newest runs found or made, however they read today.
    since: seconds of the epoch. Whatever a run took up or made after that is needed too. The database must be up to date.
    """
    specs = {root: _specs(root) for root in roots("specs")}
    own = next(iter(specs.values()), [])
    found, unread = _planned(own, store)
    found.update(key for file in own for key in _KEY.findall(file.read_text(encoding="utf-8", errors="replace")))
    found.update(_bundled(results))
    found.update(_ran(results, [file.relative_to(root).as_posix() for root, files in specs.items() for file in files], since))
    return Needed(frozenset(found), tuple(unread))


def _specs(root: Path) -> list[Path]:
    return sorted(file for file in root.rglob("*.yaml") if "exhibits" not in file.relative_to(root).parts)


def _planned(files: list[Path], store: Any) -> tuple[set[str], list[str]]:
    """The keys of what is there of the specs in `files`; and which of them cannot be read, with why."""
    from hbench.spec import load
    from hbench.spec.compose import merged
    from hbench.spec.lineage import lineage

    found: set[str] = set()
    unread: list[str] = []
    for file in files:
        try:
            line = lineage(file)
            if line.sources[-1].readable and "plan" not in merged(line).values:
                continue  # a fragment
            for spec in load(file):
                found.update(keys(compile(spec), store))
        except HbenchError as told:
            unread.append(str(told).splitlines()[0])
    return found, unread


def _bundled(results: Path) -> Iterator[str]:
    """The steps of every bundle that is found from here."""
    for folder in (file.parent for root in published_roots(results) for file in root.glob(f"*/{BUNDLE}")):
        connection = open_read_only(folder, 0.0)
        try:
            yield from (key for (key,) in connection.execute("select step_key from steps").fetchall())
        finally:
            connection.close()


def _ran(results: Path, files: list[str], since: float) -> Iterator[str]:
    """The steps of every spec's newest run, one a sweep point, however the spec reads today; and of runs that wrote since."""
    lately = [file.stem for file in (results / "runs").glob("*.jsonl") if file.stat().st_mtime >= since]
    connection = open_read_only(results, 10.0)
    try:
        found = connection.execute(_RAN, {"files": files, "lately": lately}).fetchall()
    finally:
        connection.close()
    yield from (key for (key,) in found)


_RAN = """
with newest as (
  select
    run_id
  from runs
  join specs using (spec_digest)
  where list_contains($files, regexp_replace(file, '^(.*/)?specs/', ''))
    and outcome in ('finished', 'failed', 'spent')
  qualify row_number() over (partition by file, name, point::varchar order by limited is null desc, ended_at desc) = 1
)
select distinct
  step_key
from run_steps
where step_key is not null
  and (run_id in (from newest) or list_contains($lately, run_id))
"""
