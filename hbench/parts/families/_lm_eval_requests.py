"""How many requests a task of lm-eval makes at most, told by its file alone."""

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.installed import installed_version
from hbench.parts.families import _lm_eval_files as files
from hbench.parts.families._qa_files import rows_of

USUAL_LENGTH = 256  # tokens that lm-eval lets a model say, where a task names no limit
LENGTHS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")  # lm-eval's words, first one first
OF_HBENCH = "local.rows"  # what gives documents from local files, a line each


def longest(settings: Json) -> int:
    """The most tokens that may be said under a task's generation_kwargs."""
    return next((settings[name] for name in LENGTHS if settings.get(name)), USUAL_LENGTH)


def most_requests(name: str, limit: int | None) -> tuple[int, int] | str:
    """(requests, completion tokens of all), or why its file does not tell. limit: at most so many documents are asked."""
    if installed_version("lm-eval") == "absent":
        return "lm-eval is not here"
    try:
        config = files.config_of(files.task_file(name))
    except HbenchError as trouble:
        return str(trouble)
    if "group" in config or isinstance(config.get("task"), list):
        return f"{name} is a group: name its tasks"
    if config.get("class"):
        return f"{name} is made by code of its own"
    there = _documents(config)
    documents = min(limit or there or 0, there or limit or 0)
    if not documents:
        return f"how many documents {name} has is known when it is opened: set benchmark.limit"
    return _of_documents(name, config, documents)


def _of_documents(name: str, config: Json, documents: int) -> tuple[int, int] | str:
    """A likelihood counts as one token: a server draws one."""
    how = config.get("output_type", "generate_until")
    if how == "generate_until":
        requests = documents * config.get("repeats", 1)
        return requests, requests * longest(config.get("generation_kwargs") or {})
    if how != "multiple_choice":
        return documents, documents
    if not isinstance(choices := config.get("doc_to_choice"), list):
        return f"how many choices {name} gives is known when it is opened"
    asked_bare = any(each["metric"] == "acc_mutual_info" for each in config.get("metric_list") or ())
    requests = documents * len(choices) * (2 if asked_bare else 1)
    return requests, requests


def _documents(config: Json) -> int | None:
    """Lines of a local file, where they are documents as they stand."""
    if not str(config.get("custom_dataset")).endswith(OF_HBENCH) or config.get("process_docs"):
        return None
    name = files.data_files(config).get(config.get("test_split"))
    file = files.data_file(name) if name else None
    return sum(1 for _ in rows_of(file)) if file else None
