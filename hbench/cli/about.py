"""Commands about hbench itself: its tables and kinds, and the machine that it is on."""

from pathlib import Path

import typer

from hbench.cli.options import Results


def tables() -> None:
    """Describe every table and column."""
    from hbench.store.tables import describe_tables

    typer.echo(describe_tables())


def kinds() -> None:
    """Describe every part that a spec may name by `kind`, with its fields."""
    from hbench.parts.describe import describe_kinds

    typer.echo(describe_kinds())


def doctor(results: Results = Path("results")) -> None:
    """Say what this machine offers, and what to do about what is missing."""
    from hbench.runtime.doctor import examine

    report = examine(results)
    typer.echo(report.text())
    if not report.ready:
        raise typer.Exit(1)
