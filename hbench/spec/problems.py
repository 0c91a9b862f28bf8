"""What is wrong with a spec, and where: every problem is said at once."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from hbench.core.failure import HbenchError


@dataclass(frozen=True, order=True)
class Mark:
    """Where something stands. line and column count from 1; line 0 stands for the whole file or the command line.

    written: the text of a plain (unquoted) scalar as the author wrote it: `1.10`, where the value is 1.1.
    hidden: the value may come from the environment, so no message repeats it.
    """

    file: str
    line: int = 0
    column: int = 0
    written: str = field(default="", compare=False)
    hidden: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


COMMAND_LINE = Mark("<command line>")


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake of the author. `incomplete`: something is missing, which a fragment may leave to others."""

    mark: Mark
    what: str
    hint: str = ""
    incomplete: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.mark}: {self.what}" + (f" ({self.hint})" if self.hint else "")


class SpecError(HbenchError):
    """Every problem of a spec, each once, sorted by file and line."""

    def __init__(self, problems: Iterable[Problem]):
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the known word nearest to `word`, or "" when none is near."""
    near = get_close_matches(word, [str(name) for name in known], n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else ""


def got(value: Any, written: str) -> str:
    """What stands in a spec, in words. written: see Mark."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return repr(value)
    return written if written and "${" not in written else str(value).lower() if isinstance(value, bool) else str(value)
