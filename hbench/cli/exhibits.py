"""Commands that make paper tables."""

from pathlib import Path
from typing import Annotated

import typer

from hbench.cli import complete
from hbench.cli.options import Bundle, Results

NAME = "An exhibit under specs/exhibits/; without one, they are listed."
SPECS = "Specs whose rows count, in place of the exhibit's own."


def exhibit(
    name: Annotated[str | None, typer.Argument(help=NAME, autocompletion=complete.exhibits)] = None,
    specs: Annotated[list[str] | None, typer.Argument(help=SPECS, autocompletion=complete.exported)] = None,
    every: Annotated[bool, typer.Option("--all", help="Every exhibit, and exhibits/index.html with all of them.")] = False,
    spec: Annotated[bool, typer.Option("--spec", help="Make nothing: say what fills it, and what that costs at most.")] = False,
    results: Results = Path("results"),
    bundle: Bundle = None,
) -> None:
    """Regenerate an exhibit: Markdown, CSV and LaTeX under results/exhibits/, and the table here."""
    from hbench.core.failure import HbenchError

    if every:
        if name or spec or bundle:
            raise HbenchError("--all makes every exhibit from its own specs: it goes with --results alone")
        _make_all(results)
    elif name is None:
        _list()
    elif spec:
        from hbench.cli.exhibit_specs import how_to_get

        typer.echo(how_to_get(name, results))
    else:
        _make(name, specs or [], results, bundle)


def _make(name: str, specs: list[str], results: Path, bundle: str | None) -> None:
    from hbench.exhibits.exhibit import regenerate
    from hbench.exhibits.render import markdown, write
    from hbench.store.artifacts import Store

    made = regenerate(name, results, specs, bundle)
    files = write(made, results / "exhibits")
    Store(results).put_exhibit(name, {"exhibit_cells": made.table_rows()})
    typer.echo(markdown(made))
    typer.echo("written: " + ", ".join(str(f) for f in files), err=True)


def _make_all(results: Path) -> None:
    from hbench.exhibits.every import write_every
    from hbench.exhibits.exhibit import regenerate_all
    from hbench.exhibits.index import write_index
    from hbench.store.artifacts import Store

    made, folder = [], results / "exhibits"
    for exhibit in write_every(regenerate_all(results), folder):
        Store(results).put_exhibit(exhibit.name, {"exhibit_cells": exhibit.table_rows()})
        measured = sum(cell.value is not None for cell in exhibit.cells)
        typer.echo(f"{exhibit.name:<20} {measured:>5} of {len(exhibit.cells)} cells measured")
        made.append(exhibit)
    typer.echo(f"written: {write_index(made, folder)}", err=True)


def _list() -> None:
    from hbench.exhibits.exhibit import names, read

    for each in names():
        block, _ = read(each)
        typer.echo(f"{each:<20} {block.title}" + (f" ({block.source})" if block.source else ""))
    typer.echo("\nhbench exhibit NAME makes one, with --spec it says how to fill it; --all makes every one")
