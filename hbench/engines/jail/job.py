"""What the jail is asked to run, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hbench.core.failure import Failure
from hbench.core.limits import Limits
from hbench.core.protocols import Tool


@dataclass(frozen=True, slots=True)
class HarnessJob:
    """One harness on one question. source: the text of harness.py. question: what is asked, never its answer.

    tools: name -> what answers on the driver's side. seed: what `random` starts from inside.
    """

    source: str
    question: str
    tools: Mapping[str, Tool] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """completed: run() returned a str within its limits; then `answer` is that str, else `failure` says what happened.

    output: what it printed, cut. seconds: wall time from start to end. cpu_seconds: its own. Both are volatile.
    """

    answer: str | None
    completed: bool
    failure: Failure | None = None
    output: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
