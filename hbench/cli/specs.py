"""Commands about specs: check them, see their plan, run them."""

import gc
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from hbench.cli import complete
from hbench.cli.options import Arms, Overrides, Results, SpecFile


def check(
    specs: Annotated[list[str] | None, typer.Argument(help="Spec files; all of specs/ when none.", autocompletion=complete.specs)] = None,
) -> None:
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

    gc.disable()  # as in check
    store = Store(results)
    for point in load(spec, overrides or []):
        made = compile(point.only(arm) if arm else point)
        typer.echo(show(made, foresee(made, store), every))


def run(
    spec: SpecFile,
    overrides: Overrides = None,
    results: Results = Path("results"),
    limit: Annotated[int | None, typer.Option(min=1, help="A quick look: at most so many questions a split.")] = None,
    retry_failed: Annotated[int, typer.Option(min=0, help="Try a failed step so often again in this run.")] = 0,
    arm: Arms = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Run a spec. The same command goes on where an earlier run stopped. Exit code 3: machine.budget was used up."""
    from hbench.runtime.run import Options
    from hbench.runtime.run import run as execute
    from hbench.spec import load

    points = [point.only(arm) if arm else point for point in load(spec, overrides or [])]
    tell(execute(points, Options(results, limit, retry_failed, quiet)), quiet)


def tell(result: Any, quiet: bool) -> None:
    """How a run ended. Raises Exit where it did not finish: 1 when a step failed, 3 when the budget was used up."""
    from hbench.runtime.record import command_line

    if quiet:  # else each was told when it happened
        for error in dict.fromkeys(result.errors):
            typer.echo(error.splitlines()[-1], err=True)
    counts = ", ".join(f"{n} {status}" for status, n in sorted(result.statuses.items())) or "nothing to do"
    typer.echo(f"{result.outcome} in {result.seconds:.1f} s: {counts}  (run {', '.join(result.run_ids[:3])})", err=True)
    if result.folded:
        typer.echo(result.folded, err=True)
    if result.outcome == "spent":
        typer.echo(f"what was paid for is kept; this goes on from here, with its budget anew or a larger one:\n  {command_line()}", err=True)
        raise typer.Exit(3)
    if result.outcome != "finished":
        typer.echo(f"finished work is kept; run the same command to go on from here:\n  {command_line()}", err=True)
        if result.outcome == "interrupted":
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130)  # a library that is busy in a thread would keep the process for seconds
        raise typer.Exit(1)


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
