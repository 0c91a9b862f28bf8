"""Only rollouts that did what was asked."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.trajectory import Acted
from hbench.parts.part import Part


class Succeeded(Part):
    """Drops a rollout that scored less than `least`, as the paper does but for USPTO."""

    version: ClassVar[int] = 1

    kind: Literal["succeeded"]
    grade: str = Field("score", description="Which of the domain's grades is looked at.")
    least: float = Field(1.0, gt=0, le=1, description="The least that it must be.")

    def reason_to_drop(self, acted: Acted, private: Sequence[str]) -> str | None:
        """failed, or None."""
        return None if acted.rollout.grade(self.grade) >= self.least else "failed"
