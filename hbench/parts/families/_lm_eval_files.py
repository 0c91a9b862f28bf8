"""Where the files of lm-eval's tasks lie, and what stands in them: told without importing lm-eval, which takes seconds."""

import importlib.util
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType

from hbench.core.digest import Json, digest
from hbench.core.failure import HbenchError
from hbench.parts.families import _qa_files
from hbench.parts.part import parts_folders

INSTALL = "pip install 'hbench[benchmark]'"
ONE_FILTER = "none"  # what lm-eval calls the filter of a task that names none


def library() -> Path:
    """The folder of lm-eval's own tasks. Raises HbenchError where lm-eval is not installed."""
    found = importlib.util.find_spec("lm_eval")
    if found is None or not found.submodule_search_locations:
        raise HbenchError(f"this needs lm-eval, the extra 'benchmark': {INSTALL}")
    return Path(found.submodule_search_locations[0]) / "tasks"


def own_folders() -> list[Path]:
    """Where tasks are looked up before lm-eval's own: parts/lm_eval here, those of --parts, and hbench's."""
    return parts_folders("lm_eval")


def task_file(name: str) -> Path:
    """The YAML file of the task `name`. Raises HbenchError where there is none."""
    own = (file for folder in own_folders() for file in sorted(folder.rglob("*.yaml")))
    found = next((file for file in own if _names(file, name)), None) or _in_library(name)
    if found is None:
        hint = "own ones go into parts/lm_eval, as lm-eval's --include_path takes them; `lm_eval ls tasks` lists the others"
        raise HbenchError(f"lm-eval has no task {name!r} ({hint})")
    return found


@cache
def _in_library(name: str) -> Path | None:
    """Of 15,000 files, those of the same name are read first."""
    files = sorted(_walked(library()), key=lambda file: file.stem != name)
    return next((file for file in files if _names(file, name)), None)


def _walked(folder: Path) -> Iterator[Path]:
    for place, _, files in os.walk(folder):
        yield from (Path(place) / file for file in files if file.endswith(".yaml"))


def _names(file: Path, name: str) -> bool:
    pattern = rf"^(task|group)\s*:\s*[\"']?{re.escape(name)}[\"']?\s*(#.*)?$"
    return re.search(pattern, file.read_text("utf-8", "replace"), re.MULTILINE) is not None


def config_of(file: Path) -> Json:
    """What stands in the file of a task, includes laid together; functions are told by their place. Not to be changed.

    Raises HbenchError.
    """
    return _config(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _config(file: Path, changed_ns: int) -> Json:
    try:
        return _reader().load_yaml(file, resolve_func=False)
    except Exception as wrong:  # of YAML, of an include, or of a file
        raise HbenchError(f"{file} cannot be read: {wrong}") from wrong


@cache
def _reader() -> ModuleType:
    """lm-eval's own reader, by itself."""
    spec = importlib.util.spec_from_file_location("hbench_lm_eval_reader", library() / "_yaml_loader.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def digests_of(file: Path) -> Mapping[str, str]:
    """What of a task of one's own decides questions and grades: its files, and the local data that it reads."""
    if file.is_relative_to(library()):
        return {}  # the version of lm-eval says it
    beside = sorted(each for each in file.parent.iterdir() if each.suffix in ("", ".yaml", ".py") and each.is_file())
    texts = digest([[each.name, each.read_text("utf-8", "replace")] for each in beside])[:16]
    kept = {f"data {split}": _data_digest(name) for split, name in data_files(config_of(file)).items()}
    return {"task": texts, **kept}


def data_files(config: Json) -> dict[str, str]:
    """Split -> the name of its local file, as dataset_kwargs has them; {} for a task of a hub's."""
    found = (config.get("dataset_kwargs") or {}).get("data_files") or {}
    return {split: name for split, name in found.items() if isinstance(name, str)} if isinstance(found, dict) else {}


def data_file(name: str) -> Path | None:
    """A file of data: here, beside hbench's own tasks, or in $HBENCH_DATA."""
    beside = (folder / name for folder in own_folders())
    return next((file for file in beside if file.is_file()), None) or _qa_files.find(name, ".")


def _data_digest(name: str) -> str:
    file = data_file(name)
    return _qa_files.digest_of(file)[:16] if file else "absent"


def grades_in(config: Json) -> tuple[str, ...]:
    """`METRIC,FILTER` of all grades of one answer that the task gives, as lm-eval calls them, in its order.

    A metric of all answers together (BLEU …), or one that is better when lower, is no grade of one answer.
    """
    asked = config.get("metric_list") or [{"metric": "exact_match"}]
    metrics = [_short(each["metric"]) for each in asked if _is_grade(each)]
    filters = [each["name"] for each in config.get("filter_list") or ()] or [ONE_FILTER]
    return tuple(f"{metric},{name}" for name in filters for metric in metrics)


def _is_grade(metric: Json) -> bool:
    return metric.get("aggregation", "mean") in ("mean", "nanmean") and metric.get("higher_is_better", True)


def _short(metric: str) -> str:
    """A function of one's own is told by its place: its name is what stands last."""
    return re.split(r"[./]", metric)[-1]
