"""What a domain of one's own may offer: programs that the driver serves, and a grader that breaks."""

import asyncio
import sys
from dataclasses import replace

import pytest

from hbench.core.failure import StepError
from hbench.engines.jail import Jails
from hbench.parts.part import find
from hbench.runtime.acting.patience import Patience
from hbench.runtime.acting.rollout import act_out
from tests.engines.jail.lab import loop
from tests.runtime.acting import Played, bash, question, told

SERVED = '''
from typing import ClassVar, Literal

from hbench.core.failure import ToolError
from hbench.core.question import Question
from hbench.parts.part import Part


class Counter:
    """Counts what it is asked; the grader reads the count."""

    commands = ("world",)
    ended: list = []

    def __init__(self):
        self.asked = []

    async def called(self, name, words, stdin):
        if words == ["no"]:
            raise ToolError("not that")
        self.asked.append([name, *words, stdin])
        return f"call {len(self.asked)}"

    async def finish(self):
        Counter.ended.append(len(self.asked))
        return {"world/count": str(len(self.asked)).encode()}


class Served(Part):
    """A world behind a command."""

    packages: ClassVar[tuple[str, ...]] = ()
    own_process_per_answer: ClassVar[bool] = False
    kind: Literal["served"]
    name: str = "served"

    def questions(self, start, stop, seed):
        return [Question.of("served", f"Call it {i} times.", str(i), i, None, i) for i in range(start, stop)]

    def files(self, question):
        return {}

    def collected(self, question):
        return ("*",)

    def grade_names(self):
        return ("score",)

    async def open_services(self, question):
        return Counter()

    def grade_work(self, work, question):
        if "broken" in (work.answer or ""):
            raise ValueError("this grader breaks")
        return {"score": float(work.files["world/count"].decode() == question.answer)}
'''
DOMAIN = {"kind": "served"}


@pytest.fixture(scope="module")
def jails(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    (folder / "domains").mkdir()
    (folder / "domains/served.py").write_text(SERVED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HBENCH_PARTS", str(folder))
        find.cache_clear()
        made = Jails(zygotes=1)
        yield made
        loop().run_until_complete(made.close())
    find.cache_clear()


def counters():
    return sys.modules["hbench_parts_domains_served"].Counter.ended


def played(says, jails, place=2, **more):
    made = Played(says, DOMAIN, jails=jails, **more)
    return made.play(place=place)


def test_a_command_is_answered_by_the_domain_and_what_it_holds_is_graded(jails):
    acted = played([bash("world a b; echo code | world"), "Done."], jails)
    assert told(acted)[0] == "call 1\ncall 2" and acted.rollout.grades["score"] == 1.0
    assert question(DOMAIN, 3).answer == "3" and played([bash("world x"), "Done."], jails, 3).rollout.grades["score"] == 0.0


def test_what_the_domain_refuses_is_told(jails):
    acted = played([bash("world no; echo $?"), "Done."], jails, 0)
    assert told(acted)[0].splitlines()[0] == "not that" and acted.rollout.grades["score"] == 1.0


def test_a_sub_agent_reaches_the_domain_too(jails):
    says = iter([bash("agent TASK"), bash("world x"), "I called it.", "Done."])
    acted = played(lambda _: next(says), jails, 1, target={"agent": True})
    assert told(acted)[0] == "I called it." and acted.rollout.grades["score"] == 1.0


def test_the_domain_is_ended_however_the_rollout_ends(jails):
    played([bash("world x")], jails, target={"turns": 1})
    assert counters()[-1] == 1
    before = len(counters())
    with pytest.raises(StepError, match="gave no reply"):
        played([bash("world x")], jails)
    assert len(counters()) == before + 1


def test_a_grader_that_breaks_is_a_failure_of_this_rollout_alone(jails):
    rollout = played(["broken"], jails, 0).rollout
    assert (rollout.failure.boundary, rollout.completed, rollout.grades["score"]) == ("grader", True, 0.0)
    assert "this grader breaks" in rollout.failure.message
    assert played(["Done."], jails, 0).rollout.grades["score"] == 1.0


def test_a_grader_that_breaks_on_all_work_is_an_error_of_the_step(jails):
    """A library that was missing where grading runs made every score 0."""
    made = Played(["broken", "Done.", "broken", "broken"], DOMAIN, jails=jails)
    made.stage = replace(made.stage, grading=Patience(2))
    assert [made.play(place=0).rollout.completed for _ in range(3)] == [True] * 3
    with pytest.raises(StepError, match="the grader of served broke: ValueError: this grader breaks"):
        made.play(place=0)


def test_many_rollouts_at_once_keep_their_workspaces_and_their_worlds_apart(jails):
    def says(request):
        times = int(request.messages[1].content.split()[2]) % 4
        calls = "; ".join([": > log", *["world x >> log"] * times])
        return "Done." if len(request.messages) > 2 else bash(f"{calls}; wc -l < log")

    stage = Played(says, DOMAIN, jails=jails).stage

    async def go():
        return await asyncio.gather(*(act_out(stage, question(DOMAIN, place), 0) for place in range(1, 9)))

    done = loop().run_until_complete(go())
    assert [told(one)[0].split()[-1] for one in done] == [str(place % 4) for place in range(1, 9)]
    assert [one.rollout.grades["score"] for one in done] == [1.0] * 3 + [0.0] * 5
