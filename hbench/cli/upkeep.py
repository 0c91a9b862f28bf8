"""Commands that look after a results folder: whether it is whole, and what nobody needs any more."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hbench.cli.options import Results

if TYPE_CHECKING:
    from hbench.store.unneeded import Unneeded


def verify(results: Results = Path("results")) -> None:
    """Check every finished step and every bundle by the digests they were stored with. Exit code 1: something is not whole."""
    from hbench.store.verify import verify as look
    from hbench.view.visible import visible

    found = look(results)
    for fault in found.faults:
        typer.echo(visible(fault), err=True)
    typer.echo(f"{found.steps} steps and {found.bundles} bundles read: {len(found.faults) or 'no'} faults")
    if found.faults:
        raise typer.Exit(1)


def gc(
    results: Results = Path("results"),
    days: Annotated[float, typer.Option(min=0, help="What was run or found by a run in the last so many days stays.")] = 7.0,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Show the steps that no spec under specs/ and no bundle needs, ask, and remove them. Replies, plans and runs stay."""
    from gc import disable

    from hbench.store.database import rebuild
    from hbench.store.unneeded import remove

    disable()  # plans of thousands of steps are looked through for garbage again and again, and make none
    found = _unneeded(results, time.time() - days * 86_400)
    if not found:
        typer.echo("nothing to remove: specs under specs/, bundles or late runs need every step")
        return
    typer.echo(_shown(results, found))
    if not yes and not typer.confirm(f"Remove these {len(found)} steps?", err=True):
        raise typer.Exit(1)
    left = [each for each in found if not remove(each)]
    for message in rebuild(results).messages:
        typer.echo(message, err=True)
    freed = (sum(each.bytes for each in found) - sum(each.bytes for each in left)) / 1e6
    typer.echo(f"removed: {len(found) - len(left)} steps, {freed:.1f} MB" + (f"; {len(left)} are being worked at" if left else ""))


def _unneeded(results: Path, since: float) -> "list[Unneeded]":
    """since: seconds of the epoch. Raises HbenchError where it cannot be known what is needed."""
    from hbench.core.failure import HbenchError
    from hbench.runtime.needed import needed
    from hbench.store.artifacts import Store
    from hbench.store.database import fold
    from hbench.store.unneeded import unneeded

    if not (results / "steps").is_dir():
        raise HbenchError(f"{results}/ holds no steps")
    folded = fold(results, wait_s=10.0)
    if folded.how not in ("folded", "nothing"):
        why = "; ".join(folded.messages) or f"the database is {folded.how}"
        raise HbenchError(f"what is needed cannot be known ({why}): close what has the database open, and try again")
    typer.echo("making the plans of all specs under specs/ …", err=True)
    known = needed(results, Store(results), since)
    for told in known.unread:
        typer.echo(f"{told}: what its newest run made stays, no more", err=True)
    return unneeded(results, known.keys, since)


def _shown(results: Path, found: "list[Unneeded]") -> str:
    """One row for each spec and kind of step, the largest first."""
    from hbench.store.query import query
    from hbench.store.render import render

    return render(query(results, UNNEEDED, [[each.key for each in found], [each.bytes for each in found]]), "table")


UNNEEDED = """
with unneeded as (
  select
    unnest(?::varchar[]) as step_key,
    unnest(?::bigint[]) as bytes
), of_specs as (
  select
    step_key,
    max_by(name, started_at) as spec
  from run_steps
  join runs using (run_id)
  join specs using (spec_digest)
  group by step_key
)
select
  coalesce(spec, '?') as newest_spec,
  coalesce(kind, 'not finished') as step,
  count(*) as steps,
  round(sum(bytes) / 1e6, 1) as mb,
  max(finished_at)::date as last_finished
from unneeded
left join of_specs using (step_key)
left join steps using (step_key)
group by all
order by mb desc, newest_spec, step
"""
