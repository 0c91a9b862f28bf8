"""One python() call: code as a script of its own, with its own process tree and folder where the jail can make them."""

import atexit
import linecache
import os
import shutil
import sys
import tempfile
import traceback
import types

from . import harness, kernel, seccomp, wire
from .confine import PROCESSES
from .tree import settle, wait_in_parent

OWN_TREE = True
SHELL = False
CHANNEL = 3
FOLDER_MB = 64
TEMPORARY = "/tmp"
NAME = "script.py"
fork = os.fork


def preload() -> None:
    harness.library()
    for name in ("subprocess", "threading"):
        __import__(name)


def prepare(_: int) -> None:
    """Nothing: all code comes with its call."""


def run(order: dict, jail) -> None:
    """Reads the code from the channel, runs it, leaves its exit code. Never returns."""
    code = wire.receive(CHANNEL)["code"]
    os.close(CHANNEL)
    os.set_blocking(1, True)
    os.set_blocking(2, True)
    if jail.own_tree:
        _enter_own_tree(jail)
    _give_up(order, jail)
    os._exit(_script(code))


def _enter_own_tree(jail) -> None:
    """Returns in the third generation: the first waits outside for the second, process 1 of a new tree, which reaps."""
    kernel.leave("mount", "pid", "ipc")
    kernel.mount_folder(TEMPORARY, FOLDER_MB)
    wait_in_parent()
    settle(jail.user)
    os.chdir(TEMPORARY)


def _give_up(order: dict, jail) -> None:
    jail.limit(order["memory_mb"], order["cpu_s"])
    if not jail.own_tree:
        if jail.sandbox == "none":
            _folder_on_disk()
        jail.close()
        return
    kernel.limit("NPROC", PROCESSES)
    kernel.limit("FSIZE", FOLDER_MB << 20)
    seccomp.install(jail.filter)


def _folder_on_disk() -> None:
    """Only where nothing is confined: a folder that goes when the code ends, and stays when it is killed."""
    folder = tempfile.mkdtemp(prefix="hbench-python-")
    os.chdir(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


def _script(code: str) -> int:
    """Runs `code` as `__main__` and gives the exit code that a script would have."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv[:] = [NAME]
    lines = (code + "\n").splitlines(keepends=True)
    linecache.cache[NAME] = (len(code), None, lines, NAME)  # so that tracebacks show them
    sys.stdout.reconfigure(line_buffering=True)  # what was printed before a time limit is not lost
    try:
        exec(compile(code, NAME, "exec", dont_inherit=True), module.__dict__)
        exit_code = 0
    except SystemExit as trouble:
        exit_code = _exit_code(trouble.code)
    except BaseException as trouble:
        step = trouble.__traceback__
        traceback.print_exception(type(trouble), trouble, step.tb_next if step and step.tb_next else None)
        exit_code = 1
    return exit_code if _finish() else 1


def _exit_code(code) -> int:
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    print(code, file=sys.stderr)
    return 1


def _finish() -> bool:
    """What Python does at the end of a script: exit functions, then flushing."""
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        return False
    return True
