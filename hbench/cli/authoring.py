"""Commands for whoever begins: a starting spec, and a quick look without one."""

import re
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from hbench.cli import complete
from hbench.cli.options import Overrides, Results

HARNESS = "A Python file, its name under specs/, or a harness's id; on a domain: target, or a bank's folder."
FAMILY = "A family or domain: a name such as maze or hotpotqa, KIND/NAME, or a block in braces."
MODEL = "A name under specs/models, NAME@URL of a server, published/BUNDLE/ADAPTER, or weights."


def new(
    plan: Annotated[str, typer.Argument(help="adaptation, training, distillation or evaluation.", autocompletion=complete.plans)],
    name: Annotated[str | None, typer.Argument(help="Of the spec: it becomes specs/NAME.yaml. Default: my_PLAN.")] = None,
) -> None:
    """Write a commented starting spec, which runs as it is with the small embedded model."""
    from hbench.exhibits.block import ExhibitBlock
    from hbench.spec.json_schema import write_all
    from hbench.spec.starts import FOLDER, SCHEMA, write_start

    file = write_start(plan, name)
    typer.echo(f"written: {file}")
    if not (FOLDER / SCHEMA).exists():
        write_all((FOLDER / SCHEMA).parent, ExhibitBlock)
        typer.echo(f"written: {(FOLDER / SCHEMA).parent}/, by which editors complete and explain what you type")
    short = file.relative_to(FOLDER).with_suffix("").as_posix()
    typer.echo(f"Now:\n  hbench check {file}\n  hbench plan {short}")
    typer.echo(f"  hbench run {short} --limit 2    # a quick look\n  hbench run {short}")


def eval_(
    harness: Annotated[str, typer.Argument(help=HARNESS, autocompletion=complete.harnesses)],
    family: Annotated[str, typer.Argument(help=FAMILY, autocompletion=complete.families)],
    model: Annotated[str, typer.Argument(help=MODEL, autocompletion=complete.models)],
    overrides: Overrides = None,
    limit: Annotated[int, typer.Option(min=1, help="How many questions.")] = 16,
    results: Results = Path("results"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Take a quick look at a harness, without a spec: it is run, stored and shown, marked as limited, and never a result."""
    from hbench.cli.specs import tell
    from hbench.runtime.run import Options
    from hbench.runtime.run import run as execute
    from hbench.spec.quick_look import Look, quick_look

    spec = quick_look(Look(_harness(harness, results), family, model, limit), overrides or [])
    made = execute([spec], Options(results, limit, 0, quiet))
    tell(made, quiet)
    _show(results, made.run_ids[0], spec.name)


def _harness(word: str, results: Path) -> Any:
    """What HARNESS names: a file or folder, here or under specs/, else an id in the results."""
    from hbench.core.failure import HbenchError
    from hbench.spec.looked_at import bank_source, harness_names, harness_source
    from hbench.spec.problems import did_you_mean
    from hbench.spec.quick_look import TARGET, of_files

    found = word if word == TARGET else harness_source(word) or bank_source(word)
    if found is None and re.fullmatch(r"[0-9a-f]{4,}(\.\d+)?", word) and results.is_dir():
        from hbench.cli.trace import reading
        from hbench.view.harness import files_of
        from hbench.view.ids import harness_id

        with reading(results, None) as there:
            whole = harness_id(there, word)
            return of_files(files_of(there, whole), whole)
    if found is None:
        hint = did_you_mean(word.removesuffix(".py"), harness_names()) or f"there are: {', '.join(harness_names())}"
        raise HbenchError(f"there is no harness {word!r} ({hint}; or any Python file, or the beginning of a harness's id)")
    return found


def _show(results: Path, run_id: str, name: str) -> None:
    from hbench.store.query import query
    from hbench.store.render import render

    typer.echo(render(query(results, SCORES, [run_id]), "table"))
    missed = query(results, MISSED, [run_id])
    if missed.rows:
        typer.echo("\nMissed, the first of them:\n" + render(missed, "table"))
    typer.echo("\nA quick look, marked as limited: no exhibit takes it for a result. More of it:")
    typer.echo(f"  hbench trace {shlex.quote(name)}")
    typer.echo(f"  hbench sql \"select * from rollouts join run_steps using (step_key) where run_id = '{run_id}'\"")


SCORES = """
with asked as (
  select
    question_id,
    avg(score) as score,
    avg(completed::int) as completed,
    sum(calls) as calls,
    sum(prompt_tokens + completion_tokens) as tokens,
    sum(rollouts.seconds) as seconds
  from rollouts
  join run_steps using (step_key)
  where run_id = ?
  group by question_id
)
select
  count(*) as questions,
  avg(score) as score,
  stddev_samp(score) / sqrt(count(*)) as standard_error,
  avg(completed) as completed,
  sum(calls) as calls,
  sum(tokens) as tokens,
  sum(seconds) as seconds
from asked
"""

MISSED = """
select
  questions.question_id,
  questions.text as question,
  questions.answer::varchar as right_answer,
  rollouts.answer,
  rollouts.score,
  rollouts.failure
from rollouts
join run_steps using (step_key)
join questions using (question_id)
where run_id = ? and rollouts.score < 1
order by rollouts.score, questions.question_id
limit 5
"""
