"""Nothing that only the reviewer has read may be taught."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.private import leaked
from hbench.core.trajectory import Acted
from hbench.parts.part import Part


class NoLeak(Part):
    """Drops a rollout in which a tag of a review, or a path, a name or a sentence of the guidance is told.

    What the student had read before it was told is no leak. Observations are looked at for tags, paths and names alone: a
    sentence that the machine itself prints (`No such file or directory`) was learnt from nobody. A paraphrase is not found.
    """

    version: ClassVar[int] = 3

    kind: Literal["no_leak"]
    also: tuple[str, ...] = Field((), description="Further names and sentences that must not be told.")

    def reason_to_drop(self, acted: Acted, private: Sequence[str]) -> str | None:
        """leak, or None."""
        private = (*private, *self.also)
        names = tuple(each for each in private if not any(map(str.isspace, each)))
        lived = acted.trajectory
        read = "\n".join(message.content for message in lived.head)
        for turn in lived.turns:
            if leaked(turn.accepted, private, read):
                return "leak"
            read = f"{read}\n{turn.accepted}"
            if turn.observation:
                if leaked(turn.observation.content, names, read):
                    return "leak"
                read = f"{read}\n{turn.observation.content}"
        return None
