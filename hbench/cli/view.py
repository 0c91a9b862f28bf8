"""The local web page."""

from pathlib import Path
from typing import Annotated

import typer

from hbench.cli.options import Bundle, Results, folder_of


def view(
    results: Results = Path("results"),
    bundle: Bundle = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="On this machine alone; 0: a free one.")] = 8642,
) -> None:
    """Look at runs, rounds, candidates, rollouts and exhibits in a browser, on this machine alone."""
    from hbench.view.serve import serve

    serve(folder_of(results, bundle), port, typer.echo)
