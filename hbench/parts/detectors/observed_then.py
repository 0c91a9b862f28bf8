"""One command behind another, or behind what another printed."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from hbench.core.trajectory import Acted
from hbench.parts.detectors._looked import Command, commands
from hbench.parts.detectors._pattern import Pattern, found
from hbench.parts.part import Part


class ObservedThen(Part):
    """Shown when a command, or what it printed, is followed by another one: an error by a look at the documentation.

    Texts are cut to 8,000 characters.
    """

    version: ClassVar[int] = 1

    kind: Literal["observed_then"]
    first: Pattern | None = Field(None, description="What the earlier command holds; default: any.")
    observed: Pattern | None = Field(None, description="What it printed; default: any.")
    then: Pattern = Field(description="What the later command holds.")
    within: int | None = Field(None, ge=1, description="At most so many commands later, 1 being the next; default: any later one.")

    @model_validator(mode="after")
    def _something_comes_first(self) -> Self:
        if self.first is None and self.observed is None:
            raise ValueError("name what comes first: `first`, a command, or `observed`, what one printed")
        return self

    def shown(self, acted: Acted) -> bool:
        """Whether it is there."""
        ran = commands(acted)
        after = [at for at, command in enumerate(ran) if found(self.then, command.text)]
        before = [at for at, command in enumerate(ran) if self._comes_first(command)]
        return any(early < late <= early + (self.within or len(ran)) for early in before for late in after)

    def _comes_first(self, command: Command) -> bool:
        held = self.first is None or found(self.first, command.text)
        return held and (self.observed is None or found(self.observed, command.output))
