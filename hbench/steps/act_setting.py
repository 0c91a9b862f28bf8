"""How a student acts, read back from a step's params (Harness-Zero, section 3)."""

from dataclasses import dataclass
from typing import Any

from hbench.core.digest import Json, canonical_json
from hbench.core.harness import Harness
from hbench.core.model import ModelRef
from hbench.parts.part import build
from hbench.steps.run_setting import model_ref

MOST_COLLECTED_MB = 64


@dataclass(frozen=True)
class Target:
    """The target harness h: a fixed prompt and one `execute` tool. See the fields of the same names in the spec."""

    prompt: Json  # {"name", "digest"}
    call: Any  # core.protocols.CallFormat
    turns: int
    observation_chars: int
    command_s: float
    memory_mb: int
    disk_mb: int
    agent: bool

    @property
    def most_collected(self) -> int:
        """Bytes of all files that are graded together: this process holds them some five times over while they are."""
        return min(MOST_COLLECTED_MB, self.disk_mb) << 20


@dataclass(frozen=True)
class Review:
    """Who reviews each response before it runs. guidance: K, None for a generic review.

    budget: replacements a rollout. tries: for a well-formed verdict. oracle: the reviewer is told the right answer (an
    ablation). when: {"kind": always | checks | turns, "turns": [...]}: which turns are reviewed.
    """

    reviewer: ModelRef
    prompt: Json
    turn_prompt: Json
    guidance: Harness | None
    budget: int
    tries: int
    oracle: bool
    when: Json


@dataclass(frozen=True)
class ActSetting:
    """harness: what rollouts are noted under: the bank, or plain h as a file of its params, or the outside agent's.

    bank: what makes h into h*, run as code; None for plain h. outside: {"command", "wall_s"} of somebody else's agent in
    place of h; None for none. The rest as in RunSetting.
    """

    domain: Any
    student: ModelRef
    target: Target
    harness: Harness
    seed: int
    repeats: int = 1
    grade: str = "score"
    bank: Harness | None = None
    review: Review | None = None
    outside: Json = None

    @classmethod
    def of(cls, params: Json, student: ModelRef, bank: Harness | None = None, guidance: Harness | None = None) -> "ActSetting":
        """student: with its checkpoint laid on, where it was trained."""
        target = {**params["target"], "call": build("calls", params["target"]["call"])}
        review = params.get("review")
        return cls(
            domain=build("domains", params["domain"]),
            student=student,
            target=Target(**target),
            harness=bank or _plain(params),
            seed=params["seed"],
            repeats=params["repeats"],
            grade=params["grade"],
            bank=bank,
            review=Review(**{**review, "reviewer": model_ref(review["reviewer"]), "guidance": guidance}) if review else None,
            outside=params.get("outside"),
        )


def _plain(params: Json) -> Harness:
    outside = params.get("outside")
    name, told = ("outside.json", outside) if outside else ("target.json", params["target"])
    return Harness({name: canonical_json(told).decode("utf-8", "surrogatepass")})
