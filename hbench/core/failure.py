"""Three classes of trouble: the author's mistake, a bad outcome, a broken machine."""

import errno
from dataclasses import dataclass
from typing import Literal

Boundary = Literal["parse", "apply", "harness", "limits", "grader", "reviewer"]


@dataclass(frozen=True, slots=True)
class Failure:
    """An expected bad outcome of a candidate or a student. It becomes a row, and work goes on.

    boundary: what it crossed. kind: one word for counting (`timeout`, `bad_type`, `search_not_found` …).
    message: what was wanted and what came, at most 2,000 characters.
    """

    boundary: Boundary
    kind: str
    message: str = ""


class HbenchError(Exception):
    """Something the user must know, said in one message. Printed without a traceback."""


class StepError(HbenchError):
    """A broken machine or service stops this step. Never a score, a report line or a reward."""


class OutOfBudget(StepError):
    """A call was not put, since nobody may pay for it any more: the step is left as it is, and nothing is made of it."""


class EditFailure(Exception):
    """Raised by an edit format: the response does not parse, or does not apply to the parent."""

    def __init__(self, boundary: Literal["parse", "apply"], kind: str, message: str = ""):
        super().__init__(f"{kind}: {message}" if message else kind)
        self.failure = Failure(boundary, kind, message[:2000])


class GradeFailure(Exception):
    """Raised by grading: there is no grade. It becomes a Failure at the boundary `grader`.

    kind: one of the `failure_kinds` that the family or domain names; any other is told as `crash`, since an answer that gets
    hold of its grading could spell gold in it.
    """

    def __init__(self, kind: str, message: str):
        super().__init__(f"{kind}: {message}")
        self.kind, self.message = kind, message[:2000]


class LimitReached(Exception):
    """Raised on the driver's side when a rollout asks for more than its limits allow."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.failure = Failure("limits", kind, message[:2000])


class ToolError(Exception):
    """A tool refuses this one call (bad arguments). Raised again inside the harness, which may catch it."""


_MAKE_ROOM = "make room for the results, and run the same command to go on"
_MAY_WRITE = "hbench must be able to write there; --results names another folder"
_HINTS = {
    errno.ENOSPC: _MAKE_ROOM,
    errno.EDQUOT: _MAKE_ROOM,
    errno.EROFS: _MAY_WRITE,
    errno.EACCES: _MAY_WRITE,
    errno.EPERM: _MAY_WRITE,
    errno.EIO: "the disk does not answer as it should",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
}


def disk_trouble(trouble: Exception) -> str | None:
    """What a full, faulty or closed disk did, said in one message; None when it is something else. Finished work is kept."""
    if isinstance(trouble, OSError) and trouble.errno in _HINTS:
        where = f": {trouble.filename}" if trouble.filename else ""
        return f"{trouble.strerror}{where} ({_HINTS[trouble.errno]})"
    if type(trouble).__module__.startswith(("duckdb", "_duckdb")) and "No space left on device" in str(trouble):
        return f"{str(trouble).splitlines()[0]} ({_MAKE_ROOM})"
    return None
