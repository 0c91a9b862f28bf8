"""What is written down about servers that hbench starts: whoever comes after a kill -9 of it finds and ends them."""

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hbench.core.living import lives, started, this_machine
from hbench.engines.embedded import cache_folder

LEAVE_S = 10.0  # a server gets so long to end by itself
LOOK_S = 0.05


def note(pid: int, log: Path) -> None:
    """Writes down that this process started the server `pid`, the leader of its process group."""
    _folder().mkdir(parents=True, exist_ok=True)
    told = {"machine": this_machine(), "pid": pid, "started": started(pid), "log": str(log)}
    told |= {"by": os.getpid(), "by_started": started(os.getpid())}
    fresh = _folder() / f"{pid}.{os.getpid()}"
    fresh.write_text(json.dumps(told))
    os.replace(fresh, _file(pid))


def forget(pid: int) -> None:
    _file(pid).unlink(missing_ok=True)


def end_orphans() -> list[str]:
    """Ends the servers whose hbench is gone, on this machine; gives their logs."""
    ended = []
    for file in sorted(_folder().glob("*.json")):
        with suppress(OSError, ValueError, KeyError):
            told = json.loads(file.read_text())
            if told["machine"] == this_machine() and not lives(told["by"], told["by_started"]):
                ended += _end(told)
                file.unlink(missing_ok=True)
    return ended


def end_group(pid: int, here: Callable[[], bool]) -> None:
    """Ends the process and all of its group: asked first, then killed. here: whether the leader is still there."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGTERM)
        until = time.monotonic() + LEAVE_S
        while here() and time.monotonic() < until:
            time.sleep(LOOK_S)
        os.killpg(pid, signal.SIGKILL)  # its children may outlive it


def _end(told: dict) -> list[str]:
    pid, when = told["pid"], told["started"]
    # Where the leader is gone, no other process gets its number until the last of its group has ended.
    if started(pid) not in ("", "zombie", when) or not _has_group(pid):
        return []
    end_group(pid, lambda: lives(pid, when))
    return [told["log"]]


def _has_group(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _folder() -> Path:
    return cache_folder() / "servers"


def _file(pid: int) -> Path:
    return _folder() / f"{pid}.json"
