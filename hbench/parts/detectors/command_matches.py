"""A command of some form was run."""

from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.trajectory import Acted
from hbench.parts.detectors._looked import commands
from hbench.parts.detectors._pattern import Pattern, found
from hbench.parts.part import Part


class CommandMatches(Part):
    """Shown when at least so many of the student's commands hold the pattern.

    Commands are looked at, as they were executed, never what is said beside them; texts are cut to 8,000 characters.
    """

    version: ClassVar[int] = 1

    kind: Literal["command_matches"]
    pattern: Pattern = Field(description="A regular expression, or a list: parts that stand one behind another in a command.")
    at_least: int = Field(1, ge=1, description="So many commands.")
    different: bool = Field(False, description="Equal commands count once.")
    worked: bool = Field(False, description="Only commands that ended with exit code 0 count.")

    def shown(self, acted: Acted) -> bool:
        """Whether it is there."""
        those = [each.text for each in commands(acted) if (each.worked or not self.worked) and found(self.pattern, each.text)]
        return len(set(those) if self.different else those) >= self.at_least
