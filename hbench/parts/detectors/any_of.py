"""One behaviour that is shown in several ways."""

from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.trajectory import Acted
from hbench.parts.detectors._nested import Detector, Several


class AnyOf(Several):
    """Shown when any of its detectors shows it: a check made by a tool of h*, or by a command."""

    version: ClassVar[int] = 1

    kind: Literal["any_of"]
    detectors: tuple[Detector, ...] = Field(min_length=1, description="Blocks of detectors.")

    def shown(self, acted: Acted) -> bool:
        """Whether it is there."""
        return any(each.shown(acted) for each in self.detectors)
