"""The command that sets two arms against each other."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from hbench.cli import complete
from hbench.cli.options import Bundle, Format, Results


class Unit(str, Enum):
    family = "family"
    chain = "chain"
    seed = "seed"
    scenario = "scenario"
    question = "question"


SIDE = "SPEC:ARM, 'published/NAME SPEC:ARM', published/NAME:ARM, or a checkpoint's KEY; ARM+ARM pools training runs."


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help=SIDE, autocompletion=complete.exported)],
    b: Annotated[
        str | None,
        typer.Argument(metavar="B", help="The other; `:ARM` is another arm of A's spec.", autocompletion=complete.exported),
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option("--arm", help="For sides that name none: once for both, or once each.", autocompletion=complete.arms),
    ] = None,
    unit: Annotated[
        Unit | None,
        typer.Option(help="What the claim is about; default: families, or of one its chains, scenarios, questions."),
    ] = None,
    grade: Annotated[str | None, typer.Option(help="A grade by name (exact, em, f1 …), not the one that the spec names.")] = None,
    selected: Annotated[
        bool, typer.Option("--selected", help="Score what each arm's rule chose, not the mean of its proposals.")
    ] = False,
    flips: Annotated[int, typer.Option(min=0, help="How many flipped questions are shown; csv and json have all.")] = 10,
    output: Annotated[Format, typer.Option("--format", "-f", help="How to print.")] = Format.table,
    results: Results = Path("results"),
    bundle: Bundle = None,
) -> None:
    """Set two arms against each other on the questions both were asked: difference, interval, p, families, what flipped."""
    from hbench.exhibits import compare as comparing
    from hbench.exhibits.comparison_text import FORMS

    options = comparing.Options(arm or (), bundle, unit.value if unit else None, grade, selected)
    typer.echo(FORMS[output.value](comparing.compare(results, a, b, options), flips))
