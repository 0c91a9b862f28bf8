"""What options several commands have in common."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from hbench.cli import complete

_ONLY = "Only this arm; may be given several times."
_SPEC = "A spec file, or its name under specs/."
_BUNDLE = "Read results/published/NAME in place of the results."
Arms = Annotated[list[str] | None, typer.Option("--arm", help=_ONLY, autocompletion=complete.arms)]
SpecFile = Annotated[str, typer.Argument(metavar="SPEC", help=_SPEC, autocompletion=complete.specs)]
Bundle = Annotated[str | None, typer.Option("--bundle", help=_BUNDLE, autocompletion=complete.bundles)]
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
