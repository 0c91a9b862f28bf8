"""Commands about what leaves the results folder: published bundles and trained models."""

from pathlib import Path
from typing import Annotated

import typer

from hbench.cli import complete
from hbench.cli.options import Results

EXPORTED = "Specs that were run, as `hbench run` takes them; with --duckdb also published/NAME."
model_app = typer.Typer(help="Take out what was trained.", no_args_is_help=True, rich_markup_mode=None)


def export(
    specs: Annotated[list[str], typer.Argument(metavar="SPEC", help=EXPORTED, autocompletion=complete.exported)],
    name: Annotated[str | None, typer.Option("--name", help="Of the bundle; default: the first spec's.")] = None,
    duckdb: Annotated[Path | None, typer.Option("--duckdb", help="Write this one file instead: tables, views and texts.")] = None,
    results: Results = Path("results"),
    max_mb: Annotated[float, typer.Option("--max-mb", min=0, help="A bigger bundle is refused.")] = 60.0,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", help="A table, event_texts, adapters or adapters/NAME to leave out; may be repeated."),
    ] = None,
    with_questions: Annotated[
        bool, typer.Option("--with-questions", help="Publish questions of data sets too: their licences allow it.")
    ] = False,
) -> None:
    """Write a bundle under results/published/: rows as Parquet, adapters, resolved specs, versions. Or one DuckDB file."""
    from hbench.exhibits.publish import Terms, publish, publish_file

    terms = Terms(frozenset(without or ()), max_mb, with_questions)
    if duckdb is not None:
        publish_file(results, specs, duckdb, name, terms)
        typer.echo(f"{duckdb}: {duckdb.stat().st_size / 1e6:.1f} MB; any DuckDB reads it: duckdb {duckdb} 'from held_out'")
        return
    named = name or Path(specs[0].split()[0]).stem
    made = publish(results, specs, named, terms)
    for file, size in made.files.items():
        typer.echo(f"{size / 1e6:9.2f} MB  {file}")
    for arm, adapter in made.arms.items():
        typer.echo(f"arm {arm}: adapter published/{named}/{adapter}")
    typer.echo(f"{made.folder}: {made.mb:.1f} MB in {len(made.files)} files")


def import_(
    source: Annotated[Path, typer.Argument(metavar="BUNDLE", help="Its folder, or a DuckDB file of `hbench export --duckdb`.")],
    name: Annotated[str | None, typer.Option("--name", help="What it is called here; default: its own name.")] = None,
    results: Results = Path("results"),
    max_mb: Annotated[float, typer.Option("--max-mb", min=0, help="A bigger bundle is refused.")] = 1000.0,
) -> None:
    """Take in somebody else's bundle: it is checked, nothing of it is run, and it is then read like one's own."""
    from hbench.store.bundle_import import take_in
    from hbench.view.visible import visible

    made = take_in(source, results, name, max_mb)
    for file in made.left:
        typer.echo(f"left behind, for bundle.json does not name it: {visible(file)}", err=True)
    specs = ", ".join(visible(spec) for spec in made.manifest.get("specs", {})) or "none"
    typer.echo(f"{made.folder}: {made.mb:.1f} MB, specs: {specs}")
    typer.echo("It may hold right answers of its questions. Try:")
    typer.echo(f'  hbench sql --bundle {made.folder.name} "select spec, arm, score from held_out order by all"')


@model_app.command("export")
def model_export(
    key: Annotated[str, typer.Argument(metavar="KEY", help="A training step's key, or how it begins.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    merged: Annotated[bool, typer.Option("--merged", help="The whole model, an adapter merged into its base.")] = False,
    results: Results = Path("results"),
) -> None:
    """Write what a training step made as a folder that transformers and vLLM load, with a README.md of where it is from."""
    from hbench.runtime.model_export import export_model

    card = export_model(results, key, folder, merged)
    made = f"{card['kind']} {card['sha256'][:16]}"
    typer.echo(f"{folder}: {made}, trained by {card['step']['kind']} on {card['base']['weights']}")
