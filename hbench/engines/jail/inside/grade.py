"""Grading: question and answer in, numbers out. A fork an answer, or one worker where grading runs no foreign code."""

import gc
import json
import os

from . import wire

OWN_TREE = False
CHANNEL = 3
fork = os.fork
_families: dict = {}  # canonical JSON of a family block -> the family, libraries loaded


def preload() -> None:
    import hbench.core.question
    import hbench.parts.part  # noqa: F401


def prepare(channel: int) -> None:
    """Builds the family of the block, and grades "" once so that its libraries are loaded before any fork."""
    from hbench.core.question import Question
    from hbench.parts import part

    request = wire.receive(channel)
    key = json.dumps(request["family"], sort_keys=True)
    try:
        if key not in _families:
            family = part.build("families", request["family"])
            _warm(family, Question.from_json(request["question"]))
            _families[key] = family
            gc.collect()
            gc.freeze()  # a fork that collects would copy all of the libraries' pages
        reply = {"own_process_per_answer": bool(getattr(_families[key], "own_process_per_answer", True))}
    except BaseException as trouble:
        reply = {"error": f"{type(trouble).__name__}: {trouble}"[:2000]}
    wire.send(channel, reply)


def _warm(family, question) -> None:
    try:
        family.grade("", question)
    except Exception:
        pass  # an empty answer may well be refused; what counts is that the libraries are there


def run(order: dict, jail) -> None:
    """Answers requests until the driver closes the channel. Never returns."""
    jail.limit(order["memory_mb"], order["cpu_s"])
    jail.close()
    while True:
        try:
            request = wire.receive(CHANNEL)
        except EOFError:
            os._exit(0)
        wire.send(CHANNEL, _grade(request))


def _grade(request: dict) -> dict:
    """`{"grades": …}`, or `{"trouble": kind, "message": …}`."""
    from hbench.core.question import Question

    try:
        family = _families[json.dumps(request["family"], sort_keys=True)]
        grades = family.grade(request["answer"], Question.from_json(request["question"]))
        grades = {str(name): float(value) for name, value in grades.items()}
        if not all(0.0 <= value <= 1.0 for value in grades.values()):
            raise ValueError(f"a grade is not in [0, 1]: {grades}")
        return {"grades": grades}
    except MemoryError:
        return {"trouble": "memory", "message": "MemoryError"}
    except BaseException as trouble:
        try:
            return {"trouble": "crash", "message": f"{type(trouble).__name__}: {trouble}"[:2000]}
        except BaseException:
            return {"trouble": "crash", "message": type(trouble).__name__}
