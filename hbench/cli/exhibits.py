"""Commands that make paper tables."""

from pathlib import Path
from typing import Annotated

import typer

from hbench.cli.options import Bundle, Results


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
