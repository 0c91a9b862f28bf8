"""Commands that read results: runs, SQL, the database."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from hbench.cli.options import Bundle, Format, Results, folder_of

db_app = typer.Typer(help="Look after the database.", no_args_is_help=True, rich_markup_mode=None)


def runs(results: Results = Path("results"), last: Annotated[int, typer.Option(help="How many.")] = 20) -> None:
    """List the newest runs: spec, outcome, steps, and what they spent."""
    typer.echo(_answer(results, RUNS_SQL.format(last=int(last)), "table"))


def _answer(results: Path, query: str, output: str) -> str:
    """The rows of a query as text; what has finished is folded in first."""
    from hbench.store.database import fold
    from hbench.store.query import query as ask
    from hbench.store.render import render

    for message in fold(results, wait_s=2.0).messages:
        typer.echo(message, err=True)
    return render(ask(results, query), output)


RUNS_SQL = """
with spent as (
  select
    run_id,
    sum(calls)::bigint as calls,
    sum(prompt_tokens + completion_tokens)::bigint as tokens,
    sum(cost) as cost,
    sum(reused_calls)::bigint as reused
  from spend
  group by run_id
)
select
  r.run_id,
  s.name,
  r.outcome,
  r.limited,
  count(*) filter (where t.status = 'ran') as ran,
  count(*) filter (where t.status = 'cached') as cached,
  count(*) filter (where t.status = 'failed') as failed,
  count(*) filter (where t.status = 'spent') as spent,
  count(*) filter (where t.status = 'skipped') as skipped,
  round(epoch(r.ended_at) - epoch(r.started_at), 1) as seconds,
  coalesce(m.calls, 0) as calls,
  coalesce(m.tokens, 0) as tokens,
  round(coalesce(m.cost, 0), 4) as cost,
  coalesce(m.reused, 0) as reused
from runs as r
left join spent as m using (run_id)
left join specs as s using (spec_digest)
left join run_steps as t using (run_id)
group by all
order by r.run_id desc
limit {last}
"""


def sql(
    query: Annotated[str | None, typer.Argument(help="A query; without one, a prompt.")] = None,
    output: Annotated[Format, typer.Option("--format", "-f", help="How to print.")] = Format.table,
    results: Results = Path("results"),
    bundle: Bundle = None,
    exhibit: Annotated[str | None, typer.Option(help="Of this exhibit: what its SQL gives is the table `units`.")] = None,
) -> None:
    """Query the results, read-only. Finished steps are folded in first."""
    if exhibit is not None:
        typer.echo(_from_exhibit((exhibit, results, bundle), query or "select * from units", output.value))
        return
    folder = folder_of(results, bundle)
    if query is not None:
        typer.echo(_answer(folder, query, output.value))
        return
    _prompt(folder, output.value)


def _from_exhibit(exhibit: tuple[str, Path, str | None], query: str, output: str) -> str:
    """exhibit: its name, and where its rows are from."""
    from hbench.exhibits.exhibit import opened_units
    from hbench.store.query import ask
    from hbench.store.render import render

    with opened_units(*exhibit) as connection:
        return render(ask(connection, query), output)


def _prompt(results: Path, output: str) -> None:
    from hbench.core.failure import HbenchError

    if sys.stdin.isatty():
        import readline  # noqa: F401  (gives input() history and editing)
    while True:
        try:
            line = input("hbench> " if sys.stdin.isatty() else "")
        except (EOFError, KeyboardInterrupt):
            return
        if line.strip() in ("", "exit", "quit", ".quit"):
            if line.strip():
                return
            continue
        try:
            typer.echo(_answer(results, line, output))
        except HbenchError as bad:
            typer.echo(str(bad), err=True)


@db_app.command()
def rebuild(results: Results = Path("results")) -> None:
    """Make the database anew from the steps, which are the truth."""
    from hbench.store.database import rebuild as make_anew

    made = make_anew(results)
    for message in made.messages:
        typer.echo(message, err=True)
    typer.echo(f"{made.how}: {made.steps} steps in {made.seconds:.1f} s")
    if made.how not in ("folded", "nothing"):
        raise typer.Exit(1)
