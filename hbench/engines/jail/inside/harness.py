"""One harness on one question: the whole life of a child of the harness zygote."""

import io
import os
import random
import sys
import types

from . import wire
from .tools import offer

OWN_TREE = False
CHANNEL = 3
NAME = "harness.py"
_PRELOADED = """
abc base64 bisect calendar cmath collections collections.abc contextlib copy csv dataclasses datetime decimal difflib enum
fractions functools hashlib heapq html io itertools json keyword math numbers operator pprint queue random re resource
statistics string struct textwrap threading time traceback types typing unicodedata warnings
"""


def preload() -> None:
    for name in _PRELOADED.split():
        __import__(name)


def prepare(_: int) -> None:
    """Nothing: every harness comes with its job."""


def run(order: dict, jail) -> None:
    """Reads the job from the channel, runs it, sends one answer or one trouble. Never returns."""
    jail.limit(order["memory_mb"], order["cpu_s"])
    job = wire.receive(CHANNEL)
    _own_streams(order["output_chars"] * 4)
    jail.close()
    random.seed(job["seed"])
    wire.send(CHANNEL, _outcome(job))
    os._exit(0)


def _outcome(job: dict) -> dict:
    """`{"answer": str}`, or `{"trouble": kind, "message": …}`."""
    reserve = bytearray(1 << 20)  # so that running out of memory can still be told
    try:
        outcome = _run(job)
    except MemoryError as trouble:
        del reserve
        trouble.__traceback__ = None
        outcome = {"trouble": "memory", "message": "MemoryError"}
    except SystemExit as trouble:
        outcome = {"trouble": "exited", "message": _describe(trouble)}
    except BaseException as trouble:
        outcome = {"trouble": "error", "message": _describe(trouble)}
    try:
        sys.stdout.flush(), sys.stderr.flush()
    except BaseException:
        pass  # the harness put something else there
    return outcome


def _run(job: dict) -> dict:
    try:
        code = compile(job["source"], NAME, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as trouble:
        return {"trouble": "syntax_error", "message": _describe(trouble)}
    module = types.ModuleType("harness")
    sys.modules["harness"] = module
    exec(code, module.__dict__)
    entry = module.__dict__.get("run")
    if not callable(entry):
        return {"trouble": "missing_entry_point", "message": "harness.py has no function run(question, tools)"}
    answer = entry(job["question"], offer(CHANNEL, job["tools"]))
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


def _own_streams(room: int) -> None:
    stream = io.BufferedWriter(_Cut(room), 8192)
    sys.stdout = sys.stderr = io.TextIOWrapper(stream, "utf-8", "backslashreplace", line_buffering=True)
    sys.__stdout__ = sys.__stderr__ = sys.stdout
    sys.stdin = sys.__stdin__ = io.StringIO()
