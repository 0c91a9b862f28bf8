"""lm-eval's command, with hbench among its models."""

import typer

FORWARDED = {"allow_extra_args": True, "ignore_unknown_options": True}


def lm_eval(words: typer.Context) -> None:
    """Run lm-eval's own command: with `--model hbench --model_args spec=SPEC,harness=FILE` a harness answers its tasks."""
    from hbench.runtime.lm_eval_model import run_lm_eval

    run_lm_eval(words.args)
