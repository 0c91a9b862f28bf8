"""Only calls that the target harness can run."""

import re
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.action import EXECUTE
from hbench.core.trajectory import Acted, Turn
from hbench.parts.part import Part


class ToolNames(Part):
    """Drops a rollout that calls what plain h does not have: a tool of a bank, or a file that only h* shows.

    Without it, trajectories of h* teach calls that cannot be run where the student is deployed (the paper's Table 3).
    """

    version: ClassVar[int] = 2

    kind: Literal["tool_names"]
    allowed: tuple[str, ...] = Field((EXECUTE,), description="Tools of the target harness.")
    places: tuple[str, ...] = Field(
        ("/bank", "$BANK", "${BANK}"), description="Folders that it does not have; no command may name one."
    )

    def reason_to_drop(self, acted: Acted, private: Sequence[str]) -> str | None:
        """tool, or None."""
        return "tool" if any(map(self._strange, acted.trajectory.turns)) else None

    def _strange(self, turn: Turn) -> bool:
        if turn.tool is None:
            return False
        return turn.tool not in self.allowed or any(_names(place, turn.accepted) for place in self.places)


def _names(folder: str, text: str) -> bool:
    """Whether `text` names that very folder or what is in it, and not one that ends alike."""
    return re.search(rf"(?<![\w./-]){re.escape(folder.rstrip('/'))}(?![\w-])", text) is not None
