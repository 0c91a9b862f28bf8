"""lm-eval on a model: its prompts, its requests, its numbers. The weights are loaded as for every other use in hbench."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hbench.core.benchmark import Benchmarked, BenchmarkJob
from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.model import ModelRef
from hbench.engines.benchmark_models import at_server, weights_here

BOOTSTRAP = 1000  # resamplings behind the standard error of a score that is no mean
MOST_IN_FLIGHT = 32
A_PIECE = 8  # requests to a server are put so many times as many together as may be in flight: waiting for the last costs little


def open_model(model: ModelRef, reach: Json, chat: bool) -> Any:
    """lm-eval's model: weights in this process, with what was trained laid on them, or a server. Raises HbenchError.

    A server is asked for completions and their log-probabilities; under `chat` for chats, which have none. What tokens the
    calls took is told as benchmark_models says.
    """
    if reach.get("base_url") or reach.get("port"):
        return _served(model, reach, chat)
    from hbench.engines.local_model import load

    return weights_here(load(model.identity, reach.get("threads") or 1, model.files), reach.get("batch") or 16)


def _served(model: ModelRef, reach: Json, chat: bool) -> Any:
    from hbench.engines.open_lm import open_lm

    async def there() -> Any:
        lm = open_lm(model, reach)
        try:
            await lm.check()  # gives the server an adapter that it does not know
            return lm.reach
        finally:
            await lm.close()

    found = asyncio.run(there())
    weights, in_flight = model.identity["weights"], min(found.max_in_flight, MOST_IN_FLIGHT)
    arguments = {
        "base_url": found.base_url + ("/chat/completions" if chat else "/completions"),
        "model": found.model,
        "tokenizer": None if chat else _tokenizer(weights),
        "tokenizer_backend": None if chat else "huggingface",
        "num_concurrent": in_flight,
        "max_retries": found.retries + 1,
        "timeout": found.timeout_s,
        "header": {"Authorization": f"Bearer {found.key}"} if found.key else None,
        "revision": model.identity.get("revision") or "main",
        "max_length": model.identity.get("context") or 2048,
    }
    return at_server(chat, in_flight * A_PIECE, arguments)


def _tokenizer(weights: str) -> str:
    """Where the tokenizer of a served model lies: lm-eval needs it to tell a continuation's tokens from the context's."""
    from hbench.engines import embedded

    return str(embedded.unpack(weights)) if weights.startswith(embedded.PREFIX) else weights


def evaluate(lm: Any, loaded: Mapping[str, Any], job: BenchmarkJob, cache: Path) -> Benchmarked:
    """lm-eval's scores on the tasks of `loaded` (what its TaskManager loads). Raises HbenchError.

    cache: file of what was answered before; a request that stands there is not asked again.
    """
    from lm_eval.api.model import CachingLM
    from lm_eval.evaluator import evaluate as run

    _set_up(loaded["tasks"].values(), job)
    cached = CachingLM(lm, str(cache))
    try:
        made = run(
            lm=cached,
            task_dict=loaded,
            limit=job.limit,
            bootstrap_iters=BOOTSTRAP,
            log_samples=False,
            apply_chat_template=job.chat,
            fewshot_as_multiturn=job.chat,
        )
    except (ValueError, NotImplementedError, OSError) as wrong:  # a task and a model that do not go together; a lost server
        raise HbenchError(f"lm-eval: {str(wrong).splitlines()[0]}") from wrong
    finally:
        cached.dbdict.close()  # what was paid for is there when the process ends
    documents = {name: count["effective"] for name, count in made["n-samples"].items()}
    return Benchmarked(_rows({**made["results"], **made.get("groups", {})}), documents, _empty(loaded["tasks"].values()))


def _set_up(tasks: Any, job: BenchmarkJob) -> None:
    """What lm-eval's own command does before it evaluates: seeds, and examples unless a task is to have none."""
    import numpy
    import torch

    random.seed(job.seed)
    numpy.random.seed(job.seed % 2**32)
    torch.manual_seed(job.seed)
    for task in tasks:
        own = task.get_config("num_fewshot")
        if own is None or (job.shots is not None and own != 0):
            task.set_config(key="num_fewshot", value=job.shots or 0)
        task.set_fewshot_seed(seed=job.seed)


def _rows(results: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Rows of benchmark_scores: METRIC,FILTER as lm-eval calls them."""
    rows = []
    for name, scores in results.items():
        for key, value in scores.items():
            metric, _, chosen = key.partition(",")
            if chosen and not metric.endswith("_stderr") and isinstance(value, int | float):
                stderr = scores.get(f"{metric}_stderr,{chosen}")
                known = float(stderr) if isinstance(stderr, int | float) else None
                rows.append({"benchmark": name, "metric": key, "value": float(value), "stderr": known})
    return rows


def _empty(tasks: Any) -> float:
    """Share of generated answers that hold no text."""
    said = [text for task in tasks if task.OUTPUT_TYPE == "generate_until" for each in task.instances for text in each.resps]
    return _share(said)


def _share(said: Sequence[str]) -> float:
    return sum(not text.strip() for text in said) / len(said) if said else 0.0
