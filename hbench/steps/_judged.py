"""What is asked of a reward, and what it says."""

from collections.abc import Mapping
from dataclasses import dataclass

from hbench.core.candidate import Candidate
from hbench.core.harness import Harness
from hbench.core.training import Response


@dataclass(frozen=True)
class Edit:
    """A response in one edit context: to its report on `parent`, or to that on a harness further down its chain."""

    context: int
    parent: Harness
    response: Response


@dataclass(frozen=True)
class Judged:
    """One completion. candidate: with rollouts on the scoring questions, its own or those of its equal.

    terms: name -> unweighted value in [0, 1]. reward: their weighted sum, and `further`, what further revisions add
    (None with immediate credit). Both are None where there is `trouble`, a broken service or too long a wait: that is no
    signal, never 0. same_as: place among those asked of the equal candidate that was run in its stead.
    """

    context: int
    candidate: Candidate
    terms: Mapping[str, float] | None
    reward: float | None
    same_as: int | None = None
    trouble: str | None = None
    further: float | None = None
