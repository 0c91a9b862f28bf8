"""Only rollouts that came to their end, well or not."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from hbench.core.trajectory import Acted
from hbench.parts.part import Part


class Completed(Part):
    """Drops a rollout that gave no answer within its limits; a wrong answer stays, as the paper has it in USPTO."""

    version: ClassVar[int] = 1

    kind: Literal["completed"]

    def reason_to_drop(self, acted: Acted, private: Sequence[str]) -> str | None:
        """not_completed, or None."""
        return None if acted.rollout.completed else "not_completed"
