"""A tool was called."""

from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.trajectory import Acted
from hbench.parts.part import Part


class ToolCalled(Part):
    """Shown when tools of these names were called so often. A call that a middleware kept from being run does not count.

    Under plain h there is one tool, execute: what h* does by a tool of its own is found again there by its command
    (command_matches) and by nothing else.
    """

    version: ClassVar[int] = 1

    kind: Literal["tool_called"]
    names: tuple[str, ...] = Field(min_length=1, description="Any of these tools.")
    at_least: int = Field(1, ge=1, description="So many calls.")

    def shown(self, acted: Acted) -> bool:
        """Whether it is there."""
        turns = acted.trajectory.turns
        called = [t for t in turns if t.tool in self.names and not (t.failure and t.failure.kind == "refused")]
        return len(called) >= self.at_least
