"""The `hbench` command. Each command imports what it needs when it runs, so that --help is quick."""

import gc
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from hbench.cli import about, authoring, compare, exhibits, lm_eval, published, results, specs, trace, upkeep, view

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # we use none, and looking for them takes 30 ms

app = typer.Typer(
    name="hbench",
    help="Measure, adapt, learn and distil agent harnesses: YAML specs in, DuckDB tables out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    """Says which hbench this is, and ends."""
    if asked:
        from hbench.runtime.versions import versions

        typer.echo(", ".join(f"{name} {version}" for name, version in versions().items()))
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which hbench this is, and on what.")]


@app.callback()
def every(
    parts: Annotated[list[Path] | None, typer.Option(help="A folder with parts of your own, beside ./parts.")] = None,
    version: Version = False,
) -> None:
    """Measure, adapt, learn and distil agent harnesses: YAML specs in, DuckDB tables out."""
    if parts:
        os.environ["HBENCH_PARTS"] = os.pathsep.join(str(folder.absolute()) for folder in parts)


for command in (
    authoring.new,
    specs.check,
    specs.plan,
    specs.run,
    results.runs,
    results.sql,
    exhibits.exhibit,
    compare.compare,
    view.view,
    trace.trace,
    trace.diff,
    published.export,
    upkeep.verify,
    upkeep.gc,
    specs.schema,
    about.kinds,
    about.tables,
    about.doctor,
):
    app.command()(command)
app.command("eval")(authoring.eval_)
app.command("lm_eval", add_help_option=False, context_settings=lm_eval.FORWARDED)(lm_eval.lm_eval)
app.command("import")(published.import_)
app.add_typer(published.model_app, name="model")
app.add_typer(results.db_app, name="db")


def main() -> None:
    """Runs a command. The user's mistakes end with a message and exit code 2, never with a traceback."""
    from hbench.core.failure import HbenchError, disk_trouble

    gc.set_threshold(200_000)  # what is loaded and what is in flight is looked through for garbage less often, and holds none
    try:
        app()
    except HbenchError as bad:
        from hbench.view.visible import visible

        typer.echo(visible(bad), err=True)  # it may repeat what a model, or somebody else's file, says
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    except OSError as trouble:
        said = disk_trouble(trouble)
        if said is None:
            raise
        typer.echo(said, err=True)
        sys.exit(2)
    finally:
        gc.freeze()  # as the process ends, Python would look through all that is loaded, three times
