"""Commands that look after a results folder: whether it is whole, and what nobody needs any more."""

from pathlib import Path

import typer

from hbench.cli.options import Results


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
