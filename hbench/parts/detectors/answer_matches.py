"""The final answer has some form."""

from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.trajectory import Acted
from hbench.parts.detectors._looked import cut
from hbench.parts.detectors._pattern import Pattern, found
from hbench.parts.part import Part


class AnswerMatches(Part):
    """Shown when there is a final answer and it holds the pattern. It is cut to 8,000 characters."""

    version: ClassVar[int] = 1

    kind: Literal["answer_matches"]
    pattern: Pattern = Field(description="A regular expression, or a list: parts that stand one behind another.")

    def shown(self, acted: Acted) -> bool:
        """Whether it is there."""
        answer = acted.rollout.answer
        return answer is not None and found(self.pattern, cut(answer))
