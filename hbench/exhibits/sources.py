"""Which rows count: the specs that `from:` names, as they read today, and their newest finished runs."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hbench.core.published import without_places
from hbench.exhibits.sql_functions import add_functions


@dataclass(frozen=True)
class Source:
    """One name under `from:`. points: spec digest -> what tells that sweep point apart besides family and seed."""

    name: str
    points: Mapping[str, str]
    arms: tuple[str, ...]


def load_sources(connection: Any, names: Sequence[str], known: dict[str, Sequence[Any]] | None = None) -> list[Source]:
    """The specs behind `names`, each with all its sweep points. Needs `count_newest_runs`. Raises SpecError.

    A name may have overrides behind it, as on the command line: `quickstart rounds=2`. known: name -> its specs, where they
    have been read already; what is read now is put there too.
    """
    from hbench.spec import load

    limits = dict(connection.execute("select spec_digest, limited from counted_runs").fetchall())
    specs = {} if known is None else known
    for name in names:
        path, *more = shlex.split(name)
        specs[name] = specs.get(name) or load(path, more, anew=not specs)
    return [_source(name, whole_or_quick(specs[name], limits)) for name in dict.fromkeys(names)]


def plain_name(name: str) -> str:
    """A spec's name as bundles know it: without specs/, .yaml and folders of the machine, with its overrides."""
    path, *more = without_places(shlex.split(name))
    return shlex.join([path.removeprefix("specs/").removesuffix(".yaml"), *more])


def whole_or_quick(specs: Sequence[Any], limits: Mapping[str, int | None]) -> Sequence[Any]:
    """`specs`; when none of them was run whole but some with --limit, as they were then, the largest look first.

    limits: spec digest -> N of --limit N, of the runs that count. The caption marks a quick look.
    """
    looks = sorted({n for n in limits.values() if n is not None}, reverse=True)
    tried = [specs, *([spec.limited(n) for spec in specs] for n in looks)]
    return next((those for those in tried if any(spec.digest in limits for spec in those)), specs)


def _source(name: str, specs: Sequence[Any]) -> Source:
    arms = tuple(dict.fromkeys(arm for spec in specs for arm in spec.arms))
    return Source(name, {spec.digest: _variant(spec.point) for spec in specs}, arms)


def _variant(point: Mapping[str, Any]) -> str:
    """Sweeps over families, seeds and chains are averaged; a sweep over anything else makes rows of its own."""
    averaged = ("family", "seed", "chain")
    told = {key: value for key, value in point.items() if key.split(".")[0] not in averaged}
    return ", ".join(f"{key}={value}" for key, value in told.items())


def count_newest_runs(connection: Any, digests: Sequence[str] | None = None) -> None:
    """Makes the temporary tables `counted_runs` and `counted_steps`, from which every exhibit reads, and functions.

    digests: the specs whose steps are wanted; None: those of all. `counted_runs` has the runs of all.
    """
    add_functions(connection)
    connection.execute(COUNTED_RUNS)
    connection.execute(COUNTED_STEPS, {"all": digests is None, "specs": list(digests or ())})


# The newest run of each spec that came to its end, whole runs before quick looks. One that was stopped or killed counts
# nowhere; one in which a step failed or was not paid for does, for the arms that are whole.
COUNTED_RUNS = """
create or replace temporary table counted_runs as
select
  spec_digest,
  run_id,
  ended_at,
  versions,
  limited
from runs
where ended_at is not null
  and outcome in ('finished', 'failed', 'spent')
qualify row_number() over (partition by spec_digest order by limited is null desc, ended_at desc, run_id desc) = 1
"""

# Its steps under their labels. candidate: under which number the rollouts that are meant stand; not 0 in races alone. An
# arm of which a step failed or was skipped is left out whole: a mean over the proposals that happened to go through would
# be another number.
COUNTED_STEPS = """
create or replace temporary table counted_steps as
select
  l.*,
  n.run_id,
  s.step_key,
  coalesce(x.candidate, 0) as candidate
from counted_runs as n
join plan_labels as l
  using (spec_digest)
left join run_steps as s
  using (run_id, step_id)
left join races as x
  on x.step_key = s.step_key
  and x.slot = l.slot
where $all
  or l.spec_digest in (select unnest($specs))
qualify bool_and(coalesce(s.status, '') in ('ran', 'cached'))
  over (partition by l.spec_digest, l.arm, l.family, l.seed)
"""
