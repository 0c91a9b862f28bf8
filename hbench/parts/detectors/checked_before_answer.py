"""The work is looked at once more before the answer is given."""

from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.trajectory import Acted
from hbench.parts.detectors._looked import commands
from hbench.parts.detectors._pattern import Pattern, found
from hbench.parts.part import Part


class CheckedBeforeAnswer(Part):
    """Shown when the student answered, and a command behind its last change checked what was left.

    Texts are cut to 8,000 characters.
    """

    version: ClassVar[int] = 1

    kind: Literal["checked_before_answer"]
    checks: Pattern = Field(description="What a command that checks holds.")
    changes: Pattern | None = Field(
        None, description="What a command that changes something holds; without such a command nothing is shown. Default: any check counts."
    )
    same: bool = Field(False, description="A change that checks in the same command counts too.")

    def shown(self, acted: Acted) -> bool:
        """Whether it is there."""
        ran = [each.text for each in commands(acted)]
        if acted.rollout.answer is None:
            return False
        last = 0
        if self.changes is not None:
            changed = [at for at, text in enumerate(ran) if found(self.changes, text)]
            if not changed:
                return False
            last = changed[-1] + (not self.same)
        return any(found(self.checks, text) for text in ran[last:])
