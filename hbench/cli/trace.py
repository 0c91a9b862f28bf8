"""Commands that show one thing of the results: a candidate, a rollout, a trajectory, a harness, a diff."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from hbench.cli.options import Bundle, Results, folder_of

Whole = Annotated[bool, typer.Option("--full", help="Cut no text and no list short.")]


class Hide(str, Enum):
    voice = "voice"
    reasoning = "reasoning"
    none = "none"


def trace(
    what: Annotated[str | None, typer.Argument(metavar="[WHAT]", help="Without it: what there is, and how it is named.")] = None,
    arm: Annotated[str | None, typer.Option("--arm", help="Of a spec: only this arm.")] = None,
    family: Annotated[str | None, typer.Option("--family", help="Of a spec: only this family or domain.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Of a step or question: only rollouts that failed.")] = False,
    last: Annotated[int, typer.Option("--last", min=1, help="So many rows of a list.")] = 30,
    calls: Annotated[bool, typer.Option("--calls", help="Of a trajectory: its calls in place of its turns.")] = False,
    hide: Annotated[
        Hide | None, typer.Option("--hide", help="Of a trajectory: mark what a training that hides this would hide.")
    ] = None,
    whole: Whole = False,
    results: Results = Path("results"),
    bundle: Bundle = None,
) -> None:
    """Show a spec's tree of harnesses, a candidate, rollout, trajectory, harness or question, by its id or how that begins."""
    from hbench.view.terminal import Terminal
    from hbench.view.terminal_trace import Wanted
    from hbench.view.terminal_trace import trace as show

    wanted = Wanted(arm, family, failed, last, calls, hide.value if hide else None)
    with reading(results, bundle) as there:
        show(there, Terminal(whole), what, wanted)


def diff(
    before: Annotated[str, typer.Argument(metavar="HARNESS", help="An id or how it begins, STEP.CANDIDATE, a file or a folder.")],
    after: Annotated[str, typer.Argument(metavar="HARNESS", help="The other one.")],
    results: Results = Path("results"),
    bundle: Bundle = None,
) -> None:
    """Show what differs between two harnesses."""
    from hbench.core.harness import Harness
    from hbench.view.file_diffs import file_diffs
    from hbench.view.terminal import Terminal
    from hbench.view.terminal_candidate import show_diffs

    files = [Harness(_files(word, results, bundle)).tidied().files for word in (before, after)]
    show_diffs(Terminal(whole=True), file_diffs(*files))


@contextmanager
def reading(results: Path, bundle: str | None) -> Iterator[Any]:
    """One connection, to what has finished by now."""
    from hbench.store.database import fold
    from hbench.view.reading import Reading

    folder = folder_of(results, bundle)
    for message in fold(folder, wait_s=2.0).messages:
        typer.echo(message, err=True)
    with Reading(folder).held() as held:
        yield held


def _files(word: str, results: Path, bundle: str | None) -> dict[str, str]:
    """Of a harness in the results, or on disk: a single file is the harness of one file, whatever it is called."""
    from hbench.core.harness import ENTRY
    from hbench.view.harness import files_of
    from hbench.view.ids import harness_id

    if not (place := Path(word)).exists():
        with reading(results, bundle) as there:
            return files_of(there, harness_id(there, word))
    if place.is_dir():
        found = sorted(file for file in place.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
        return {file.relative_to(place).as_posix(): _text(file) for file in found}
    return {ENTRY: _text(place)}


def _text(file: Path) -> str:
    from hbench.core.failure import HbenchError

    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as broken:
        raise HbenchError(f"{file} cannot be read as text: {broken}") from None
