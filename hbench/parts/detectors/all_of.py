"""One behaviour that takes several."""

from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.trajectory import Acted
from hbench.parts.detectors._nested import Detector, Several


class AllOf(Several):
    """Shown when each of its detectors shows it, in whatever order."""

    version: ClassVar[int] = 1

    kind: Literal["all_of"]
    detectors: tuple[Detector, ...] = Field(min_length=1, description="Blocks of detectors.")

    def shown(self, acted: Acted) -> bool:
        """Whether it is there."""
        return all(each.shown(acted) for each in self.detectors)
