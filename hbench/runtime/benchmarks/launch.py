"""The driver's side of a benchmark: start lm-eval's process, watch it, take what it found."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hbench.core.benchmark import Benchmarked, BenchmarkJob
from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.model import ModelRef
from hbench.core.protocols import Part
from hbench.runtime.benchmarks.job import FOUND, JOB, PAID_AT, TROUBLE, read_found, write_job
from hbench.runtime.training.job import in_process
from hbench.runtime.training.parent import child_environment

FOLDER, LOG, LOOK_S, TAIL = "benchmark", "log.txt", 0.1, 10
ROLE = "benchmark"  # in which lm-eval asks: its calls stand apart from those of the model's own role
KEY = "HBENCH_SERVER_KEY"
BESIDE_ADAPTERS = (
    "vLLM may break on likelihoods where adapters could change the output layer: give serve.arguments.lora_target_modules "
    "the layers that they do change"
)
MOSTLY = 0.5  # a larger share of empty answers is said aloud


def measure(services: Any, part: Part, job: BenchmarkJob, reach: Json, key: str) -> Benchmarked:
    """See core.protocols.Services.benchmark. services: RunServices; reach: how this machine reaches the model; key: of the
    step, which pays for what lm-eval asks."""
    folder = part.folder / FOLDER
    folder.mkdir(exist_ok=True)
    if find_spec("lm_eval") is None:
        raise StepError("a benchmark needs lm-eval, the extra 'benchmark': pip install 'hbench[benchmark]'")
    if not (folder / FOUND).exists():
        with _on_the_device(services, job.model, reach):
            reach, keys, server = _reached(services, job.model, reach)
            write_job(folder / JOB, job, reach, services.machine.sandbox)
            with _fate_of(server):
                paid_at = services.paid_at(key, job.model, ROLE)
                _run(folder, services, {**_threads(reach), **keys, PAID_AT: paid_at})
    found = read_found(folder / FOUND)
    if found.empty > MOSTLY:
        hint = "a task's stops may not suit the model: try chat, or more max_gen_toks"
        services.progress.say(f"benchmark {', '.join(job.tasks)}: {found.empty:.0%} of the answers are empty ({hint})")
    return found


def _on_the_device(services: Any, model: ModelRef, reach: Json) -> AbstractContextManager:
    """Weights that lm-eval's process loads want the device as a training does; a server that hbench starts, as its model does."""
    if reach.get("serve"):
        return services.beside(model)
    return services.device.alone() if in_process(model, reach) else nullcontext()


def _reached(services: Any, model: ModelRef, reach: Json) -> tuple[Json, dict[str, str], Any]:
    """How lm-eval's process reaches the model, variables that it is told, and the server of this run, if that is where: it is
    up from here on, its key stands in no file."""
    if not reach.get("serve"):
        return reach, {}, None
    lm = services.servers.lm(model, reach)
    services.run(lm.check())
    services.run(lm.close())
    asked = {key: value for key, value in reach.items() if key not in ("serve", "port", "engine")}
    return {**asked, "base_url": lm.server.base_url, "api_key_env": KEY}, {KEY: lm.server.key}, lm.server


@contextmanager
def _fate_of(server: Any) -> Iterator[None]:
    """A server that died under lm-eval says why: lm-eval saw only that nobody answers."""
    try:
        yield
    except StepError:
        if server is None or not (fate := server.fate()):
            raise
        raise StepError(f"{fate}\n{BESIDE_ADAPTERS}" if server.what.adapters else fate) from None


def _threads(reach: Json) -> dict[str, str]:
    return dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(reach.get("threads") or 1))


class _Process:
    """lm-eval's process, in a session of its own; it ends with this one."""

    def __init__(self, folder: Path, told: Mapping[str, str]):
        quiet = {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        with (folder / LOG).open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "hbench.runtime.benchmarks", str((folder / JOB).absolute())],
                env={**os.environ, **told, **quiet, **child_environment()},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self, services: Any) -> int:
        try:
            while (code := self._process.poll()) is None:
                services.check()
                time.sleep(LOOK_S)
            return code
        finally:
            self.end()

    def end(self) -> None:
        """kill -9 of what still runs: what was answered stays in its cache."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def _run(folder: Path, services: Any, told: Mapping[str, str]) -> None:
    (folder / TROUBLE).unlink(missing_ok=True)
    process = _Process(folder, told)
    with services.ending(process):
        code = process.wait(services)
    if (folder / TROUBLE).exists():
        raise StepError(json.loads((folder / TROUBLE).read_text())["message"])
    if code or not (folder / FOUND).exists():
        lines = [line for line in (folder / LOG).read_text("utf-8", "replace").splitlines() if line.strip()][-TAIL:]
        raise StepError("\n".join([*lines, f"lm-eval's process ended with {code} (more in {folder / LOG})"]))
