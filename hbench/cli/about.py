"""Commands about hbench itself: its tables and kinds, and the machine that it is on."""

from pathlib import Path
from typing import Annotated

import typer

from hbench.cli import complete
from hbench.cli.options import Results


def tables() -> None:
    """Describe every table and column."""
    from hbench.store.tables import describe_tables

    typer.echo(describe_tables())


def kinds(
    word: Annotated[
        str | None, typer.Argument(help="A plan, a sort, a kind, a step, or a block such as train.grpo.", autocompletion=complete.words)
    ] = None,
) -> None:
    """Describe every part that a spec may name by `kind`, with its fields; or one kind, or any block of a spec."""
    from hbench.spec.kinds import describe, describe_kinds
    from hbench.steps import step_kind

    steps = {name: step_kind.find(name).text for name in step_kind.names()}
    typer.echo(describe(word, steps) if word else describe_kinds(steps))


def doctor(results: Results = Path("results")) -> None:
    """Say what this machine offers, and what to do about what is missing."""
    from hbench.runtime.doctor import examine

    report = examine(results)
    typer.echo(report.text())
    if not report.ready:
        raise typer.Exit(1)
