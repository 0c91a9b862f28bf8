"""What a regenerated table must say about itself: specs, versions, dates, marks, and what is missing."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from hbench.core.digest import digest
from hbench.exhibits.block import COUNTS, ExhibitBlock
from hbench.exhibits.cells import Line
from hbench.exhibits.sources import Source
from hbench.exhibits.statistics import LEAST

DIGEST = re.compile("[0-9a-f]{32,}")
SHOWN = 4  # digests or families named in full; beyond that the count, and one digest of all


def caption(connection: Any, block: ExhibitBlock, sources: Sequence[Source], found: Sequence[Line]) -> tuple[str, ...]:
    """One sentence or list a line. found: the rows of the table, in their order."""
    runs = _query(connection, RUNS, sources)

    def told(sql: str) -> list[dict[str, Any]]:
        return _query(connection, sql, sources) if runs else []

    said = [block.caption.strip()] if block.caption else []
    many = COUNTS[block.unit]
    said.append(
        f"{block.confidence:.0%} intervals over {block.unit} means (Student's t); "
        f"none for a single {block.unit}, or where all {many} are equal."
    )
    said += _weighed(block)
    said += _pooled(block, found)
    said += [line for source in sources for line in _counted(source, [r for r in runs if r["spec_digest"] in source.points])]
    said += _models(told(MODELS))
    said += _measured_on(connection, sources) if block.times else []
    said += _versions(runs)
    said += _quick(runs)
    said += _fewer(told(FEWER))
    said += _beside_paper(block, sources)
    said += [f"Not ours: {row}: {why}" for row, why in block.unfilled.items()] if _compared(block, sources) else []
    broken = told(BROKEN)
    said += [line for source in sources for line in _missing(source, {run["spec_digest"] for run in runs}, broken, found)]
    return tuple(said)


RUNS = """
select
  spec_digest,
  ended_at,
  limited,
  versions::varchar as versions
from counted_runs
where spec_digest in (select unnest($specs))
order by
  spec_digest
"""

MODELS = """
select distinct
  m.role,
  m.model,
  l.arm
from counted_steps as l
join models as m
  using (step_key)
where l.spec_digest in (select unnest($specs))
order by
  m.role desc,
  m.model,
  l.arm
"""

MACHINES = """
select distinct
  r.machine ->> '$.cores' as cores,
  r.machine ->> '$.memory_gb' as memory_gb
from counted_runs as n
join runs as r
  using (run_id)
where n.spec_digest in (select unnest($specs))
order by
  all
"""

# Without addresses: they tell of somebody's machine.
ENGINES = r"""
select distinct
  m.role,
  trim(regexp_replace(m.engine, '(\w+://|/)\S*', '', 'g')) as engine
from counted_steps as l
join models as m
  using (step_key)
where l.spec_digest in (select unnest($specs))
  and l.purpose = 'held_out'
order by
  m.role desc,
  engine
"""

# Splits that got fewer questions than the spec asked for (splits.allow_fewer).
FEWER = """
select distinct
  l.spec_digest,
  l.family,
  s.value ->> '$.role' as role,
  (s.value ->> '$.got')::bigint as got,
  (s.value ->> '$.asked')::bigint as asked
from counted_steps as l
join steps as s
  using (step_key)
where l.purpose like 'split_%'
  and l.spec_digest in (select unnest($specs))
  and (s.value ->> '$.got')::bigint < (s.value ->> '$.asked')::bigint
order by
  l.family,
  role,
  l.spec_digest
"""

# Arms of which a step failed or was skipped: they count in no cell.
BROKEN = """
select
  l.spec_digest,
  l.arm,
  l.family,
  count(*) filter (where s.status = 'failed') as failed,
  count(*) as unfinished
from counted_runs as n
join plan_labels as l
  using (spec_digest)
left join run_steps as s
  using (run_id, step_id)
where l.spec_digest in (select unnest($specs))
  and coalesce(s.status, '') not in ('ran', 'cached')
group by all
order by
  l.arm,
  l.family,
  l.spec_digest
"""


def _query(connection: Any, sql: str, sources: Sequence[Source]) -> list[dict[str, Any]]:
    result = connection.execute(sql, {"specs": [point for source in sources for point in source.points]})
    head = [column[0] for column in result.description]
    return [dict(zip(head, row, strict=True)) for row in result.fetchall()]


def _weighed(block: ExhibitBlock) -> list[str]:
    """Which columns are means of means."""
    over = dict.fromkeys(c.over for c in block.columns.values() if c.over)
    return [
        f"A mean over several values of {name} weighs each the same; its interval is that of the {COUNTS[block.unit]} within "
        "(Student's t of the smallest)."
        for name in over
    ]


def _measured_on(connection: Any, sources: Sequence[Source]) -> list[str]:
    """Which machines ran, and what served the models: other ones take another time."""
    ran = [f"{m['cores']} cores and {m['memory_gb']} GB" for m in _query(connection, MACHINES, sources) if m["cores"]]
    served = [f"{e['role']} by {e['engine']}" for e in _query(connection, ENGINES, sources) if e["engine"]]
    told = [*dict.fromkeys(ran), *served]
    return [f"Measured on {'; '.join(told)}."] if told else ["Nothing is known of the machine that it was measured on."]


def _pooled(block: ExhibitBlock, found: Sequence[Line]) -> list[str]:
    """Which rows pool which arms, of those that have been run."""
    told = {}
    for line in found:
        members = [arm for arm in block.pool.get(line.arm, ()) if any(unit["arm"] == arm for unit in line.units)]
        if len(members) > 1:
            told[line.arm] = f"{line.arm} pools {' and '.join(members)}"
    if not told:
        return []
    many = COUNTS[block.unit]
    how = f"{many} and training runs are two levels of their intervals, drawn anew; none below {LEAST} {many}"
    return [f"{'; '.join(told.values())}: {how}."]


def _counted(source: Source, runs: Sequence[dict[str, Any]]) -> list[str]:
    """Which specs, by digest, and when their runs ended."""
    if not runs:
        return []
    digests = sorted(run["spec_digest"] for run in runs)
    named = ", ".join(d[:8] for d in digests) if len(digests) <= SHOWN else f"together {digest(digests)[:8]}"
    days = sorted({run["ended_at"].strftime("%Y-%m-%d") for run in runs})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return [f"{source.name}: {len(digests)} of {len(source.points)} specs ({named}), run {when}."]


def _models(asked: Sequence[dict[str, Any]]) -> list[str]:
    """Who answered in each role; which arms asked whom, where a role has several."""
    roles: dict[str, dict[str, list[str]]] = {}
    for row in asked:
        model = row["model"][:8] if DIGEST.fullmatch(row["model"]) else row["model"]  # replies of a file
        roles.setdefault(row["role"], {}).setdefault(model, []).append(row["arm"])
    told = [f"{role} {_who(models)}" for role, models in roles.items()]
    return [f"Models: {'; '.join(told)}."] if told else []


def _who(models: dict[str, list[str]]) -> str:
    if len(models) == 1:
        return next(iter(models))
    return ", ".join(f"{model} ({', '.join(arms)})" for model, arms in models.items())


def _versions(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Every library with each version that a counted run used."""
    seen: dict[str, set[str]] = {}
    for run in runs:
        for name, version in json.loads(run["versions"] or "{}").items():
            seen.setdefault(name, set()).add(str(version))
    listed = ", ".join(f"{name} {' and '.join(sorted(versions))}" for name, versions in sorted(seen.items()))
    return [f"Versions: {listed}."] if listed else []


def _quick(runs: Sequence[dict[str, Any]]) -> list[str]:
    looks = sorted({run["limited"] for run in runs if run["limited"] is not None})
    return [f"A quick look, not a result: run with --limit {' and '.join(map(str, looks))}."] if looks else []


def _fewer(splits: Sequence[dict[str, Any]]) -> list[str]:
    listed = [f"{s['family']} {s['got']} of {s['asked']} {s['role']}" for s in splits]
    return [f"Fewer questions than asked for (splits.allow_fewer): {_some(listed)}."] if listed else []


def _beside_paper(block: ExhibitBlock, sources: Sequence[Source]) -> list[str]:
    if not block.paper or _compared(block, sources):
        return []
    return [f"The paper's values are left out: they belong to the setting of {' and '.join(block.compared)}."]


def _compared(block: ExhibitBlock, sources: Sequence[Source]) -> bool:
    return any(source.name in block.compared for source in sources)


def _missing(source: Source, counted: set[str], broken: Sequence[dict], found: Sequence[Line]) -> list[str]:
    """What of a spec is not in the table, with the command that would fill it."""
    absent = [point for point in source.points if point not in counted]
    fails = [f"{b['arm']} on {b['family']}" for b in broken if b["spec_digest"] in source.points]
    arms = dict.fromkeys(_row(line) for line in found if line.source == source.name and not line.units)
    named = ", ".join(filter(None, arms))
    if len(absent) == len(source.points):
        return [f"{source.name}: no finished run; `hbench run {source.name}` fills {named or 'its rows'}."]
    said = []
    if absent:
        said.append(f"{len(absent)} of {len(source.points)} specs not run to the end: `hbench run {source.name}`.")
    if fails:
        said.append(f"Left out, a step failed: {_some(fails)}: `hbench run {source.name} --retry-failed 1`.")
    if named:
        said.append(f"Missing rows: {named}: `hbench run {source.name}` fills them.")
    return said


def _row(line: Line) -> str:
    return f"{line.arm} ({line.variant})" if line.variant else line.arm


def _some(listed: Iterable[str]) -> str:
    each = list(dict.fromkeys(listed))
    return ", ".join(each[:SHOWN]) + (f" and {len(each) - SHOWN} more" if len(each) > SHOWN else "")
