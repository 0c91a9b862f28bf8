"""The `hbench` command. Each command imports what it needs when it runs, so that --help is quick."""

import gc
import os
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from hbench.cli_published import Results, export, model_app

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # we use none, and looking for them takes 30 ms

app = typer.Typer(
    name="hbench",
    help="Measure, adapt, learn and distil agent harnesses: YAML specs in, DuckDB tables out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Arms = Annotated[list[str] | None, typer.Option("--arm", help="Only this arm; may be given several times.")]
SpecFile = Annotated[str, typer.Argument(metavar="SPEC", help="A spec file, or its name under specs/.")]
Bundle = Annotated[str | None, typer.Option("--bundle", help="Read results/published/NAME in place of the results.")]
Overrides = Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Laid on last.")]


@app.callback()
def every(parts: Annotated[list[Path] | None, typer.Option(help="A folder with parts of your own, beside ./parts.")] = None) -> None:
    """Measure, adapt, learn and distil agent harnesses: YAML specs in, DuckDB tables out."""
    if parts:
        os.environ["HBENCH_PARTS"] = os.pathsep.join(str(folder.absolute()) for folder in parts)


class Format(str, Enum):
    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"


@app.command()
def check(specs: Annotated[list[str] | None, typer.Argument(help="Spec files; all of specs/ when none.")] = None) -> None:
    """Check specs: everything under specs/ (or the files named) is read, validated and compiled."""
    from hbench.exhibits.block import ExhibitBlock
    from hbench.plan import compile
    from hbench.spec import check_all, check_files

    gc.disable()  # plans of thousands of steps are looked through for garbage again and again, and make none
    found = check_files(specs, compile, ExhibitBlock) if specs else check_all(None, compile, ExhibitBlock)
    for problem in found.problems:
        typer.echo(str(problem), err=True)
    typer.echo(found.summary())
    if found.problems:
        raise typer.Exit(2)


@app.command()
def plan(
    spec: SpecFile,
    overrides: Overrides = None,
    results: Results = Path("results"),
    arm: Arms = None,
    every: Annotated[bool, typer.Option("--every", help="A line a step, also where an arm has hundreds.")] = False,
) -> None:
    """Show the steps of a spec, what is cached, and an upper bound of model calls and tokens."""
    from hbench.plan import compile
    from hbench.plan.show import show
    from hbench.runtime.foresee import foresee
    from hbench.spec import load
    from hbench.store.artifacts import Store

    store = Store(results)
    for point in load(spec, overrides or []):
        made = compile(point.only(arm) if arm else point)
        typer.echo(show(made, foresee(made, store), every))


@app.command()
def run(
    spec: SpecFile,
    overrides: Overrides = None,
    results: Results = Path("results"),
    limit: Annotated[int | None, typer.Option(min=1, help="A quick look: at most so many questions a split.")] = None,
    retry_failed: Annotated[int, typer.Option(min=0, help="Try a failed step so often again in this run.")] = 0,
    arm: Arms = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Run a spec. The same command goes on where an earlier run stopped."""
    from hbench.runtime.run import Options
    from hbench.runtime.run import run as execute
    from hbench.spec import load

    points = [point.only(arm) if arm else point for point in load(spec, overrides or [])]
    result = execute(points, Options(results, limit, retry_failed, quiet))
    if quiet:  # else each was told when it happened
        for error in dict.fromkeys(result.errors):
            typer.echo(error.splitlines()[-1], err=True)
    _tell(result)


def _tell(result) -> None:
    from hbench.runtime.record import command_line

    counts = ", ".join(f"{n} {status}" for status, n in sorted(result.statuses.items())) or "nothing to do"
    typer.echo(f"{result.outcome} in {result.seconds:.1f} s: {counts}  (run {', '.join(result.run_ids[:3])})", err=True)
    if result.folded:
        typer.echo(result.folded, err=True)
    if result.outcome != "finished":
        typer.echo(f"finished work is kept; run the same command to go on from here:\n  {command_line()}", err=True)
        if result.outcome == "interrupted":
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130)  # a library that is busy in a thread would keep the process for seconds
        raise typer.Exit(1)


@app.command()
def runs(results: Results = Path("results"), last: Annotated[int, typer.Option(help="How many.")] = 20) -> None:
    """List the newest runs: spec, outcome, steps."""
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
select
  r.run_id,
  s.name,
  r.outcome,
  r.limited,
  count(*) filter (where t.status = 'ran') as ran,
  count(*) filter (where t.status = 'cached') as cached,
  count(*) filter (where t.status = 'failed') as failed,
  count(*) filter (where t.status = 'skipped') as skipped,
  round(epoch(r.ended_at) - epoch(r.started_at), 1) as seconds
from runs as r
left join specs as s using (spec_digest)
left join run_steps as t using (run_id)
group by all
order by r.run_id desc
limit {last}
"""


@app.command()
def sql(
    query: Annotated[str | None, typer.Argument(help="A query; without one, a prompt.")] = None,
    output: Annotated[Format, typer.Option("--format", "-f", help="How to print.")] = Format.table,
    results: Results = Path("results"),
    bundle: Bundle = None,
) -> None:
    """Query the results, read-only. Finished steps are folded in first."""
    folder = _folder(results, bundle)
    if query is not None:
        typer.echo(_answer(folder, query, output.value))
        return
    _prompt(folder, output.value)


def _folder(results: Path, bundle: str | None) -> Path:
    if bundle is None:
        return results
    from hbench.exhibits.bundled import bundle_folder

    return bundle_folder(bundle, results)


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


@app.command()
def exhibit(
    name: Annotated[str, typer.Argument(help="An exhibit under specs/exhibits/.")],
    specs: Annotated[list[str] | None, typer.Argument(help="Specs whose rows count, in place of the exhibit's own.")] = None,
    results: Results = Path("results"),
    bundle: Bundle = None,
) -> None:
    """Regenerate an exhibit: Markdown, CSV and LaTeX under results/exhibits/, and the table here."""
    from hbench.exhibits.exhibit import regenerate
    from hbench.exhibits.render import markdown, write
    from hbench.store.artifacts import Store

    made = regenerate(name, results, specs or [], bundle)
    files = write(made, results / "exhibits")
    Store(results).put_exhibit(name, {"exhibit_cells": made.table_rows()})
    typer.echo(markdown(made))
    typer.echo("written: " + ", ".join(str(f) for f in files), err=True)


@app.command()
def schema(
    sort: Annotated[str, typer.Argument(help="experiment, fragment or exhibit.")] = "experiment",
    write: Annotated[Path | None, typer.Option(help="Write all of them into this folder instead.")] = None,
) -> None:
    """Print the JSON Schema of specs, for editors; --write FOLDER renews the files that specs name."""
    from hbench.exhibits.block import ExhibitBlock
    from hbench.spec.json_schema import json_schema_text, write_all

    if write is not None:
        typer.echo("\n".join(str(file) for file in write_all(write, ExhibitBlock)))
    else:
        typer.echo(json_schema_text(sort, ExhibitBlock), nl=False)


@app.command()
def tables() -> None:
    """Describe every table and column."""
    from hbench.store.tables import describe_tables

    typer.echo(describe_tables())


@app.command()
def kinds() -> None:
    """Describe every part that a spec may name by `kind`, with its fields."""
    from hbench.parts.describe import describe_kinds

    typer.echo(describe_kinds())


@app.command()
def doctor(results: Results = Path("results")) -> None:
    """Say what this machine offers, and what to do about what is missing."""
    from hbench.runtime.doctor import examine

    report = examine(results)
    typer.echo(report.text())
    if not report.ready:
        raise typer.Exit(1)


app.command()(export)
app.add_typer(model_app, name="model")

db_app = typer.Typer(help="Look after the database.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(db_app, name="db")


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


def main() -> None:
    """Runs a command. The user's mistakes end with a message and exit code 2, never with a traceback."""
    from hbench.core.failure import HbenchError

    try:
        app()
    except HbenchError as bad:
        typer.echo(str(bad), err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
