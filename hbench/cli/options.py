"""What options several commands have in common."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from hbench.cli import complete

Arms = Annotated[list[str] | None, typer.Option("--arm", help="Only this arm; may be given several times.", autocompletion=complete.arms)]
SpecFile = Annotated[str, typer.Argument(metavar="SPEC", help="A spec file, or its name under specs/.", autocompletion=complete.specs)]
Bundle = Annotated[str | None, typer.Option("--bundle", help="Read results/published/NAME in place of the results.", autocompletion=complete.bundles)]
Overrides = Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Laid on last.")]
Results = Annotated[Path, typer.Option("--results", help="The results folder.")]


class Format(str, Enum):
    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"


def folder_of(results: Path, bundle: str | None) -> Path:
    """The results folder, or that of a published bundle. Raises HbenchError where there is no such bundle."""
    if bundle is None:
        return results
    from hbench.exhibits.bundled import bundle_folder

    return bundle_folder(bundle, results)
