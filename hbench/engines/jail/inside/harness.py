"""One harness on one question: the whole life of a child of the harness zygote."""

import builtins
import io
import mmap
import os
import random
import sys
import warnings
from marshal import dumps, loads
from os import _exit
from sys import modules
from types import ModuleType

from .kernel import fork  # noqa: F401
from .tools import asking, offer
from .wire import receive, send

OWN_TREE = False
SHELL = False
CHANNEL = 3
NAME = "harness.py"
_seed = super(random.Random, random._inst).seed  # all that random.seed does for a number, and without its fourteen pages
_SAMPLE = "def run(question, tools):\n    print(end='')\n    return tools.lm('say ' + question)\n"
# Ready without an import in every child; each costs every fork a little, so rarely used ones are left out.
_PRELOADED = """
bisect collections collections.abc contextlib copy enum functools heapq io itertools json
math operator random re string textwrap time types
"""


def preload() -> None:
    library()
    own_streams()
    warm()


def library() -> None:
    """The part of the standard library that is ready from the start."""
    for name in _PRELOADED.split():
        __import__(name)
    builtins.exit = builtins.quit = sys.exit  # scripts expect them; the module `site`, which gives them, is not loaded


def prepare(_: int) -> None:
    """Nothing: every harness comes with its job."""


def warm() -> None:
    """Runs small jobs in the zygote, so that code is specialised before the fork and not again in every child."""
    import _socket

    ours, theirs = _socket.socketpair()
    given = asking(ours.fileno())
    for number in range(8):
        job = {**_compiled(_SAMPLE), "question": "?", "tools": ["lm"], "seed": number}
        send(theirs.fileno(), job)
        _seed(number)
        send(theirs.fileno(), {"result": "!"})
        send(ours.fileno(), _outcome(receive(ours.fileno()), given))
    ours.close(), theirs.close()
    sys.modules.pop("harness", None)


def run(order: dict, jail) -> None:
    """Reads the job from the channel, runs it, sends one answer or one trouble. Never returns.

    A job may also be `{"compile": source}`: nothing of it is run.
    """
    jail.limit(order["memory_mb"], order["cpu_s"])
    job = receive(CHANNEL)
    _printed.room = order["output_chars"] * 4
    jail.close()
    if "compile" in job:
        send(CHANNEL, _compiled(job["compile"]))
        _exit(0)
    _seed(job["seed"])
    send(CHANNEL, _outcome(job, _of_driver))
    _exit(0)


def _compiled(source: str) -> dict:
    """`{"code": hexadecimal}`, or `{}` for a source that cannot be compiled without a word: who runs it shall hear that."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return {"code": dumps(compile(source, NAME, "exec", dont_inherit=True)).hex()}
    except BaseException:
        return {}


def _outcome(job: dict, tools: tuple) -> dict:
    """`{"answer": str}`, or `{"trouble": kind, "message": …}`."""
    try:
        outcome = _run(job, tools)
    except MemoryError as trouble:
        _reserve.close()
        trouble.__traceback__ = None
        outcome = {"trouble": "memory", "message": "MemoryError"}
    except SystemExit as trouble:
        outcome = {"trouble": "exited", "message": _describe(trouble)}
    except BaseException as trouble:
        outcome = {"trouble": "error", "message": _describe(trouble)}
    try:
        sys.stdout.flush()
        if sys.stderr is not sys.stdout:
            sys.stderr.flush()
    except BaseException:
        pass  # the harness put something else there
    return outcome


def _run(job: dict, tools: tuple) -> dict:
    try:
        code = loads(bytes.fromhex(job["code"])) if "code" in job else compile(job["source"], NAME, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as trouble:
        return {"trouble": "syntax_error", "message": _describe(trouble)}
    module = ModuleType("harness")
    modules["harness"] = module
    exec(code, module.__dict__)
    entry = module.__dict__.get("run")
    if not callable(entry):
        return {"trouble": "missing_entry_point", "message": "harness.py has no function run(question, tools)"}
    answer = entry(job["question"], offer(tools, job["tools"]))
    if type(answer) is not str:  # not isinstance: a subclass may lie about its length, its equality, its text
        return {"trouble": "bad_type", "message": f"run() must return a str, it returned {_name(answer)}"}
    return {"answer": answer}


def _describe(trouble: BaseException) -> str:
    """`Type: text (harness.py, line n)`, whatever the exception's own methods do."""
    try:
        text = str(trouble)[:1500] if not isinstance(trouble, SyntaxError) else f"{trouble.msg}, line {trouble.lineno}"
        text = str.__str__(text)
    except BaseException:
        text = "<no text>"
    return f"{_name(trouble)}: {text}{_place(trouble)}"


def _name(value) -> str:
    try:
        return str.__str__(type.__dict__["__name__"].__get__(type(value)))[:200]
    except BaseException:
        return "<no name>"


def _place(trouble: BaseException) -> str:
    line, step = None, trouble.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == NAME:
            line = step.tb_lineno
        step = step.tb_next
    return f" ({NAME}, line {line})" if line else ""


class _Cut(io.RawIOBase):
    """Standard output that takes `room` bytes and then swallows, so that printing never blocks and never fails."""

    def __init__(self, room: int):
        self.room = room

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def write(self, data) -> int:
        count = len(data)
        if self.room > 0:
            try:
                self.room -= os.write(1, data[: self.room])
            except OSError:
                self.room = 0  # the pipe is full: that was all of it
        return count


_of_driver = asking(CHANNEL)
_printed = _Cut(0)
_reserve = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE)  # address space, so that running out of it can still be told


def own_streams() -> None:
    """Puts the cut stream in the place of standard output and error, and nothing in the place of input."""
    stream = io.BufferedWriter(_printed, 8192)
    sys.stdout = sys.stderr = io.TextIOWrapper(stream, "utf-8", "backslashreplace", line_buffering=True)
    sys.__stdout__ = sys.__stderr__ = sys.stdout
    sys.stdin = sys.__stdin__ = io.StringIO()
