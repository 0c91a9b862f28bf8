"""A task of lm-eval: its documents, what is asked of each, and what lm-eval's own filters and metrics make of an answer."""

import json
import logging
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.parts.families._lm_eval_files import config_of, own_folders, task_file

SPLITS = {"test": ("test_split", "validation_split"), "training": ("training_split",)}


def open_task(file: Path) -> Any:
    """The task in `file`, with its data: local, or fetched by `datasets` and kept in its cache. Raises HbenchError."""
    _be_quiet()
    from lm_eval.tasks import TaskManager

    try:
        (task,) = TaskManager(include_defaults=False).load([str(file)])["tasks"].values()
    except Exception as wrong:  # of the task's author, of its functions, or of whoever fetches data
        raise HbenchError(f"the task in {file} cannot be opened: {type(wrong).__name__}: {wrong}") from wrong
    if name := missing_metric(task):
        raise HbenchError(f"the task in {file} asks for the metric {name}, which lm-eval would fetch from a hub: it is not here")
    return task


def open_tasks(names: Sequence[str]) -> Mapping[str, Any]:
    """What lm-eval loads of these tasks and groups. Of groups its 15,000 files are read, which takes ten seconds.

    Raises HbenchError.
    """
    _be_quiet()
    from lm_eval.tasks import TaskManager

    found = [task_file(name) for name in names]
    plain = all("group" not in config_of(file) for file in found)
    try:
        if plain:
            return TaskManager(include_defaults=False).load([str(file) for file in found])
        return TaskManager(include_path=own_folders()).load(list(names))
    except Exception as wrong:  # as in open_task
        raise HbenchError(f"{', '.join(names)} cannot be opened: {type(wrong).__name__}: {wrong}") from wrong


def scorer(file: Path, doc: Json) -> Any:
    """The task in `file` as it grades, without its data: every split of it is `doc` alone."""
    _be_quiet()
    import datasets
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks._yaml_loader import load_yaml

    config = load_yaml(file, resolve_func=True)
    for key in ("tag", "group", "task_list", "process_docs", "fewshot_config", "dataset_kwargs", "num_fewshot"):
        config.pop(key, None)  # of its data and examples, which are not here
    rows = datasets.Dataset.from_list([doc])
    return ConfigurableTask(config={**config, "custom_dataset": lambda **_: _Every(rows), "metadata": {}})


class _Every(dict):
    """Whatever split is asked for, the same rows."""

    def __init__(self, rows: Any):
        super().__init__()
        self._rows = rows

    def __missing__(self, split: str) -> Any:
        return self._rows


def docs_of(task: Any, split: str) -> list[Json]:
    """The documents of `test` (lm-eval's evaluation documents) or `training`, in their order; [] where there is no such split."""
    if not any(task.get_config(name) for name in SPLITS[split]):
        return []
    docs = list(task.eval_docs if split == "test" else task.training_docs())
    try:
        return json.loads(json.dumps(docs))
    except TypeError as odd:
        raise HbenchError(f"documents of {task.task_name} hold what is no text and no number: {odd}") from None


def asked(task: Any, doc: Json, shots: int, seed: int) -> str:
    """What is asked of a document: the task's description, `shots` examples, the question; as lm-eval asks a base model."""
    task.set_fewshot_seed(seed)
    return task.fewshot_context(doc, shots, gen_prefix=task.doc_to_prefix(doc))


def gold_of(task: Any, doc: Json) -> Json:
    """The right answer: a text, or what else the task has for one."""
    target = task.doc_to_target(doc)
    if task.get_config("doc_to_choice") and isinstance(target, int):
        return task.doc_to_choice(doc)[target]
    if isinstance(target, list) and target and all(isinstance(each, str) for each in target):
        return target[0] if len(target) == 1 else target
    return target if isinstance(target, str | int | float | list) else str(target)


def metrics_of(task: Any, doc: Json, responses: Sequence[str]) -> dict[str, Json]:
    """`METRIC,FILTER` -> what lm-eval has of the responses to one document. Runs the task's own code on them: jail only."""
    from lm_eval.api.instance import Instance

    target = task.doc_to_target(doc)
    task.multiple_target = len(target) if isinstance(target, list) else 0
    instance = Instance("generate_until", doc, ("", {}), 0, metadata=(task.task_name, 0, len(responses)))
    instance.resps = list(responses)
    found = {}
    for each in task._filters:
        each.apply([instance])
        made = task.process_results(doc, [instance.filtered_resps[each.name]])
        found |= {f"{metric},{each.name}": value for metric, value in made.items()}
    return found


def cut_at(text: str, stops: Sequence[str]) -> str:
    """`text` up to the first of the stops, as lm-eval cuts what a model says."""
    for stop in stops:
        text = text.split(stop)[0] if stop else text
    return text


def missing_metric(task: Any) -> str | None:
    """A metric that is not here: lm-eval would fetch it from a hub."""
    own = callable(task.get_config("process_results"))
    metrics: Mapping[str, Callable | None] = {} if own else task._metric_fn_list
    return next((name for name, function in metrics.items() if function is None), None)


def _be_quiet() -> None:
    """lm-eval tells at length of defaults that it takes; `datasets` draws bars, and asks where temporary files would go, which
    in a jail is nowhere."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        tempfile.tempdir = os.sep
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    import datasets

    datasets.disable_progress_bars()
