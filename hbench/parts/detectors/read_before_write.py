"""What is there is looked at before it is changed."""

from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.trajectory import Acted
from hbench.parts.detectors._looked import commands
from hbench.parts.detectors._pattern import Pattern, found
from hbench.parts.part import Part


class ReadBeforeWrite(Part):
    """Shown when something was written, and an earlier command had read. One command that does both is no look first.

    Texts are cut to 8,000 characters.
    """

    version: ClassVar[int] = 1

    kind: Literal["read_before_write"]
    reads: Pattern = Field(description="What a command that reads holds.")
    writes: Pattern = Field(description="What a command that writes holds.")

    def shown(self, acted: Acted) -> bool:
        """Whether it is there."""
        ran = [each.text for each in commands(acted)]
        first = next((at for at, text in enumerate(ran) if found(self.writes, text)), None)
        return first is not None and any(found(self.reads, text) for text in ran[:first])
