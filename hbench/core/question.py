"""One gradable item of a family, and the splits that questions serve in."""

from dataclasses import dataclass, field
from typing import Literal, Self

from hbench.core.digest import Json, digest

Role = Literal["feedback", "scoring", "training", "evaluation"]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and what only graders (and, where the spec allows, reports) may read.

    id: 16 hex digits of (family, text, answer). content_id: 16 hex digits of what is asked without its
    framing; splits are disjoint in it. `answer` and the private half of `meta` never reach a harness.
    """

    id: str
    content_id: str
    family: str
    text: str
    answer: Json
    meta: Json = field(default_factory=dict)
    pool_index: int = 0

    @classmethod
    def of(cls, family: str, text: str, answer: Json, content: Json, meta: Json = None, pool_index: int = 0) -> Self:
        """A question with its two digests. `content` is what is asked, free of framing."""
        return cls(
            id=digest([family, text, answer])[:16],
            content_id=digest([family, content])[:16],
            family=family,
            text=text,
            answer=answer,
            meta={} if meta is None else meta,
            pool_index=pool_index,
        )

    def to_json(self) -> Json:
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, value: Json) -> Self:
        return cls(**value)
