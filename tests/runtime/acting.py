"""Multi-turn rollouts on the toy domain, in the real workspace; what student and reviewer say is scripted."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hbench.core.digest import Json
from hbench.core.harness import Harness
from hbench.core.message import Request, Sampling
from hbench.core.model import ModelRef
from hbench.core.prompt import load_prompt
from hbench.core.question import Question
from hbench.core.trajectory import Acted
from hbench.engines.jail import Jails
from hbench.engines.scripted import ScriptedLM
from hbench.parts.part import build
from hbench.runtime.acting.rollout import Stage, act_out
from hbench.steps.act_setting import ActSetting, Review
from tests.engines.jail.lab import jails_of, loop

COPY = {"kind": "toy", "ask": "copy"}
SUM = {"kind": "toy", "ask": "sum"}
STUDENT = ModelRef("student", "scripted", {"kind": "scripted"}, Sampling(temperature=0.7))
TARGET = {
    "prompt": load_prompt("student/execute").to_json(),
    "call": build("calls", {"kind": "fenced"}).to_json(),
    "turns": 6,
    "observation_chars": 2000,
    "command_s": 120.0,  # a busy machine must not change what comes out
    "memory_mb": 256,
    "disk_mb": 16,
    "agent": False,
}

Says = Sequence[str] | Callable[[Request], Any]


def bash(command: str, said: str = "") -> str:
    """A student's message that runs `command`."""
    return (f"{said}\n\n" if said else "") + f"```bash\n{command}\n```"


def params(domain: Json = COPY, target: Json = None, **changed: Any) -> Json:
    """What an act step is given, with the student that `Played` scripts; `target` is laid over TARGET."""
    return {
        "domain": build("domains", domain).to_json(),
        "target": {**TARGET, **(target or {})},
        "outside": None,
        "student": STUDENT.to_json(),
        "review": None,
        "repeats": 1,
        "grade": "score",
        "seed": 0,
        **changed,
    }


def question(domain: Json = COPY, place: int = 0) -> Question:
    return build("domains", domain).questions(place, place + 1, 0)[0]


class Played:
    """One rollout after another, each of its own student. student, reviewer: the scripted models, with what they were asked.

    domain, target, more: as in `params`. jails: those that all tests share, unless given.
    """

    def __init__(
        self,
        says: Says,
        domain: Json = COPY,
        bank: Harness | None = None,
        review: Review | None = None,
        verdicts: Says = (),
        jails: Jails | None = None,
        **more: Any,
    ):
        self.student, self.reviewer, self.domain = ScriptedLM(says), ScriptedLM(verdicts), domain
        made = params(domain, **more)
        setting = replace(ActSetting.of(made, STUDENT, bank), review=review)
        lms = {"student": self.student, "reviewer": self.reviewer}
        self.stage = Stage(setting, jails or jails_of("auto"), prompt=load_prompt("student/execute"), domain=made["domain"], **lms)

    def play(self, repeat: int = 0, place: int = 0) -> Acted:
        acted = loop().run_until_complete(act_out(self.stage, question(self.domain, place), repeat))
        acted.trajectory.check()
        return acted


def play(says: Says, *arguments: Any, **more: Any) -> Acted:
    """The rollout in which the student says these things, one a turn."""
    return Played(says, *arguments, **more).play()


def told(acted: Acted) -> list[str | None]:
    """What the student was told each turn; None behind the answer."""
    return [turn.observation.content if turn.observation else None for turn in acted.trajectory.turns]
