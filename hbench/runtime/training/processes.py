"""The processes of one training step, as the driver holds them."""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.runtime.training.parent import child_environment
from hbench.runtime.training.rows import trouble

JOB, LOCK, LAUNCH_LOG = "job.json", "ranks.lock", "log-launch.txt"
LOOK_S = 0.1
TAIL_LINES = 15
# What torch's launcher says of the rank that failed first.
_FIRST = re.compile(r"Root Cause.*?rank\s*:\s*(\d+).*?exitcode\s*:\s*(-?\d+)", re.DOTALL)
_EACH = re.compile(r"^\s*rank\s*:\s*(\d+).*\n\s*exitcode\s*:\s*(-?\d+)", re.MULTILINE)


class Processes:
    """Started in a session of their own: Ctrl-C in the terminal reaches the driver alone, which then ends them."""

    def __init__(self, folder: Path, training: Json, told: Mapping[str, str] = MappingProxyType({})):
        """told: further variables of their environment."""
        self.folder, self.count = folder, training["processes"]
        module = "hbench.runtime.training" + (".launcher" if self.count > 1 else "")
        log = folder / (LAUNCH_LOG if self.count > 1 else log_name(0))
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, str((folder / JOB).absolute())],
                env={**_ours(), **environment(training), **told, **child_environment()},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self, look: Callable[[], None]) -> int:
        """The exit code; `look` is called about ten times a second, and what it raises ends the processes."""
        try:
            while (code := self._process.poll()) is None:
                look()
                time.sleep(LOOK_S)
            look()
            return code
        finally:
            self.end()

    def end(self) -> None:
        """kill -9 of what still runs: whole checkpoints stay. The ranks of a launcher die with it."""
        if self._process.poll() is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self._process.wait()


# A scheduler of a cluster sets these for its own processes: a trainer that sees them waits for ranks that nobody starts.
OF_RANKS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "GROUP_RANK")


def _ours() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in OF_RANKS}


def environment(training: Json) -> dict[str, str]:
    """What the processes are told beside the driver's own variables. One process takes one GPU, also where there are more."""
    threads, visible = str(training["threads"]), os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")
    return {
        **({"CUDA_VISIBLE_DEVICES": visible[0]} if training["processes"] == 1 else {}),
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONUNBUFFERED": "1",
        "TRL_EXPERIMENTAL_SILENCE": "1",
    }


def log_name(rank: int) -> str:
    return f"log-{rank}.txt"


def trouble_file(folder: Path, rank: int) -> Path:
    return folder / f"trouble-{rank}.json"


def hold(folder: Path) -> int:
    """Held by every rank as long as it lives: see `wait_until_gone`. The descriptor is closed by the process's end."""
    descriptor = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o666)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def wait_until_gone(folder: Path, look: Callable[[], None], seconds: float = 60.0) -> None:
    """Returns when no rank of an earlier try lives any more: it would write into the same files. Raises StepError."""
    until = time.monotonic() + seconds
    descriptor = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o666)
    try:
        while not _taken(descriptor):
            look()
            if time.monotonic() > until:
                raise StepError(f"processes of an earlier try still train in {folder}: end them (see `fuser {LOCK}` there)")
            time.sleep(LOOK_S)
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def why(folder: Path, code: int, count: int) -> StepError:
    """What to say of processes that ended with `code`: a rank's own words, else the tail of the log of the first to die.

    The last line says it all; lines before it are the log's.
    """
    first = _first_to_die(_text(folder / LAUNCH_LOG)) if count > 1 else None
    killed = first is not None and first[1] < 0  # then what the others say is that they missed it
    for rank in range(0 if killed else count):
        if trouble_file(folder, rank).exists():
            said, reason = json.loads(trouble_file(folder, rank).read_text())["message"], trouble(folder)
            return StepError(f"{said} ({reason})" if reason else said)
    who, log = "the training process", folder / log_name(0)
    if count > 1:
        who, log = "the launcher of the training processes", folder / LAUNCH_LOG
        if first:
            who, log, code = f"rank {first[0]} of the training", folder / log_name(first[0]), first[1]
    lines = [line for line in _text(log).splitlines() if line.strip()][-TAIL_LINES:]
    how = f"was killed (signal {-code})" if code < 0 else f"ended with exit code {code}"
    said = f": {lines[-1].strip()[:500]}" if lines and code > 0 else ""
    return StepError("\n".join([*lines, f"{who} {how}{said} (more in {log})"]))


def _first_to_die(said: str) -> tuple[int, int] | None:
    """(rank, exit code) by the launcher's words. A rank that was killed died before the one that then missed it, whichever
    was noticed first; SIGTERM is the launcher's own."""
    killed = [(int(rank), int(code)) for rank, code in _EACH.findall(said) if int(code) < 0 and int(code) != -signal.SIGTERM]
    first = _FIRST.search(said)
    return killed[0] if killed else (int(first[1]), int(first[2])) if first else None


def _text(log: Path) -> str:
    return log.read_text("utf-8", "replace") if log.exists() else ""
