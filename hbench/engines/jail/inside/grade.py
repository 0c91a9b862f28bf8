"""Grading: question and answer in, numbers out. A fork an answer, or one worker where grading runs no foreign code.

What grades is a family, or a domain: it is given the files that a student left too.
"""

import _thread
import base64
import gc
import os

from . import kernel, wire

OWN_TREE = False
SHELL = False
CHANNEL = 3
_graders: dict = {}  # the driver's name for it -> (families or domains, the one that grades, libraries loaded)


def fork() -> int:
    """Also where what grades has started threads."""
    return kernel.fork() if _thread._count() == 0 else os.fork()


def preload() -> None:
    gc.disable()  # in the zygote, where what is loaded stays: a tenth of the time
    import hbench.core.question
    import hbench.parts.part  # noqa: F401


def prepare(channel: int) -> None:
    """Builds the family or domain that is asked for. Whatever becomes of it, the zygote lives on."""
    try:
        wire.send(channel, _prepared(wire.receive(channel)))
    except (OSError, EOFError):
        pass  # the driver no longer waits for it


def _prepared(request: dict) -> dict:
    """`{"own_process_per_answer", "failure_kinds"}` or `{"error": …}`. Grades nothing once: libraries are loaded before any
    fork."""
    from hbench.core.question import Question
    from hbench.parts import part

    try:
        name, sort = request["grader"], request["sort"]
        if name not in _graders:
            grader = part.build(sort, request["block"])
            _warm(sort, grader, Question.from_json(request["question"]))
            _graders[name] = (sort, grader)
            gc.collect()
            gc.freeze()  # a fork that collects would copy all of the libraries' pages
        grader = _graders[name][1]
        own = bool(getattr(grader, "own_process_per_answer", True))
        return {"own_process_per_answer": own, "failure_kinds": list(getattr(grader, "failure_kinds", ()))}
    except BaseException as trouble:
        return {"error": f"{type(trouble).__name__}: {trouble}"[:2000]}


def _warm(sort: str, grader, question) -> None:
    try:
        _graded(sort, grader, {"answer": "", "files": {}}, question)
    except Exception:
        pass  # an empty answer may well be refused; what counts is that the libraries are there


def _graded(sort: str, grader, request: dict, question):
    if sort == "families":
        return grader.grade(request["answer"], question)
    from hbench.core.trajectory import Work

    files = {path: base64.b64decode(content) for path, content in request["files"].items()}
    return grader.grade_work(Work(request["answer"], files), question)


def run(order: dict, jail) -> None:
    """Answers requests until the driver closes the channel. Never returns."""
    gc.enable()
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
    from hbench.core.failure import GradeFailure
    from hbench.core.question import Question

    try:
        grades = _graded(*_graders[request["grader"]], request, Question.from_json(request["question"]))
        grades = {str(name): float(value) for name, value in grades.items()}
        if not all(0.0 <= value <= 1.0 for value in grades.values()):
            raise ValueError(f"a grade is not in [0, 1]: {grades}")
        return {"grades": grades}
    except MemoryError:
        return {"trouble": "memory", "message": "MemoryError"}
    except GradeFailure as none:
        return {"trouble": none.kind, "message": none.message}
    except BaseException as trouble:
        try:
            return {"trouble": "crash", "message": f"{type(trouble).__name__}: {trouble}"[:2000]}
        except BaseException:
            return {"trouble": "crash", "message": type(trouble).__name__}
