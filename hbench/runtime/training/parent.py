"""A process that ends with the one that started it, however that one ends."""

import ctypes
import os
import signal
import sys
import threading
import time

PARENT = "HBENCH_PARENT"  # environment variable: the process that started this one
LOOK_S = 1.0
_PR_SET_PDEATHSIG = 1


def child_environment() -> dict[str, str]:
    """What a child is told, so that it can notice that we are gone."""
    return {PARENT: str(os.getpid())}


def end_with_parent() -> None:
    """Linux kills this process the moment its parent dies; elsewhere, and for certainty, a thread looks every second.

    The kernel's signal comes also when the *thread* that started this process ends, so that thread must wait for it.
    """
    parent = int(os.environ.get(PARENT) or os.getppid())
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we had asked
        os.kill(os.getpid(), signal.SIGKILL)
    threading.Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    os.kill(os.getpid(), signal.SIGKILL)
