"""A harness as a model of lm-eval: `hbench lm_eval --model hbench --model_args spec=…,harness=… --tasks …`.

lm-eval asks, the harness answers in its jail with the spec's solver, lm-eval grades. lm-eval finds models in a list of its
own alone, so its command runs below ours, which adds `hbench` to that list.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.harness import Harness
from hbench.core.limits import Limits
from hbench.core.question import Question

NAME = "hbench"
NO_NUMBERS = "a harness gives a text, and no log-likelihood of one: only generate_until tasks can be asked of it"


def run_lm_eval(words: Sequence[str]) -> None:
    """lm-eval's own command, with `hbench` among its models. Raises HbenchError."""
    import sys
    from importlib.util import find_spec

    if find_spec("lm_eval") is None:
        raise HbenchError("this needs lm-eval, the extra 'benchmark': pip install 'hbench[benchmark]'")
    register()
    from lm_eval.__main__ import cli_evaluate

    sys.argv = ["lm_eval", *words, *([] if "--include_path" in words else _own_tasks(words))]
    cli_evaluate()


def _own_tasks(words: Sequence[str]) -> list[str]:
    """parts/lm_eval, where there is one, else hbench's own tasks; lm-eval's command takes one folder."""
    from hbench.parts.families._lm_eval_files import own_folders

    folder = next(iter(own_folders()), None)
    return ["--include_path", str(folder)] if folder and {"--tasks", "-t"} & {*words} else []


def register() -> None:
    """Adds `hbench` to lm-eval's models, also for `lm_eval.simple_evaluate(model="hbench", …)`."""
    import lm_eval.models  # noqa: F401  registers lm-eval's own: it does so only while its list is empty
    from lm_eval.api.registry import model_registry

    if NAME not in model_registry:
        model_registry.register(NAME, target=f"{__name__}:HarnessModel")


def __getattr__(name: str) -> Any:
    """HarnessModel, made when it is asked for: its base class is lm-eval's."""
    if name == "HarnessModel":
        return _model_class()
    raise AttributeError(name)


@cache
def _model_class() -> type:
    from lm_eval.api.model import LM

    class HarnessModel(LM):
        """model_args: spec (a file, or a name under specs/), harness (default: the spec's), arm (where it has several), results
        (a folder: what a solver said before is not asked again), and overrides such as solver.sampling.max_tokens=256.

        The harness decides what it asks the solver: a task's generation settings and stops are not applied to its answer.
        """

        def __init__(self, spec: str = "", harness: str = "", arm: str = "", results: str = "results", **more: Json):
            super().__init__()
            passed = ("batch_size", "max_batch_size", "device")  # what lm-eval gives every model
            overrides = [f"{key}={value}" for key, value in more.items() if key not in passed]
            self._played = Played(_block(spec, [*([f"harness={harness}"] if harness else []), *overrides], arm), Path(results))

        def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
            return self._played.answers([request.args[0] for request in requests])

        def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
            raise HbenchError(NO_NUMBERS)

        def loglikelihood_rolling(self, requests: Sequence[Any]) -> list[float]:
            raise HbenchError(NO_NUMBERS)

        def apply_chat_template(self, chat_history: Sequence[Json], add_generation_prompt: bool = True) -> str:
            """A harness takes one text: the messages' own, one after the other."""
            return "\n\n".join(message["content"] for message in chat_history)

        @property
        def tokenizer_name(self) -> str:
            return NAME

    return HarnessModel


def _block(spec: str, overrides: Sequence[str], arm: str) -> Any:
    """The spec's arm. Raises HbenchError where it has several points that differ in more than their family, or no harness."""
    from hbench.spec import load

    if not spec:
        raise HbenchError("--model_args spec=FILE says which harness, solver and limits: spec=quickstart,arm=seed")
    first, *others = load(spec, overrides)
    if arm and arm not in first.arms:
        raise HbenchError(f"{spec} has no arm {arm!r} (there are: {', '.join(first.arms)})")
    named = arm or next(iter(first.arms))
    block = first.arms[named]
    if not hasattr(block, "harness"):
        raise HbenchError(f"{spec} is of the plan {block.plan}, which runs no harness of its own")
    if odd := next((each for each in others if _played(each.arms[named]) != _played(block)), None):
        differs = next(path for path in odd.point if odd.point[path] != first.point[path])
        raise HbenchError(f"{spec} is {1 + len(others)} experiments that answer differently: set what it sweeps, e.g. {differs}=…")
    return block


def _played(block: Any) -> Json:
    """What of an arm decides answers to lm-eval's questions: not its own family."""
    return [block.harness.digest, block.solver.to_json(), block.limits.to_json(), block.seed]


class Played:
    """A spec's harness and solver."""

    def __init__(self, block: Any, results: Path):
        from hbench.runtime.run import machine_of
        from hbench.steps.run_setting import RunSetting

        self._harness = Harness(block.harness.files())
        self._setting = RunSetting(
            block.family, block.solver.ref("solver"), Limits(**block.limits.to_json()), block.seed, block.repeats, block.grade
        )
        self._machine = machine_of([SimpleNamespace(machine=block.machine, arms={"main": block})], results)

    def answers(self, texts: Sequence[str]) -> list[str]:
        """What the harness answers to each text; "" where it failed. Equal texts are repeats, which draw anew.

        Model and jails are opened for one call, lm-eval makes one, and are closed with it. Raises StepError for a broken
        model server: never an answer.
        """
        from hbench.runtime.progress import Progress
        from hbench.runtime.rollouts import answerer
        from hbench.runtime.services import RunServices

        asked, found = _asked(texts), {}

        def done(made: tuple[str, int, str]) -> None:
            found[made[0], made[1]] = made[2]

        services = RunServices(self._machine, Progress(quiet=True))
        try:
            with services.beside(self._setting.solver):
                services.play(partial(answerer, harness=self._harness, setting=self._setting), asked, done, "")
        finally:
            services.close()
        return [found[question.id, repeat] for question, repeat in asked]


def _asked(texts: Sequence[str]) -> list[tuple[Question, int]]:
    """(question, repeat) of each text."""
    asked: list[tuple[Question, int]] = []
    seen: Counter[str] = Counter()
    for text in texts:
        question = Question.of("lm-eval", text, "", text)
        asked.append((question, seen[question.id]))
        seen[question.id] += 1
    return asked
