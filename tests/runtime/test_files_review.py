"""The expert as reviewer of file jobs, in a real review session: a student that knows nothing is led to the end."""

import asyncio
import subprocess

import pytest

from hbench.core.action import EXECUTE, CallFailure, Tool
from hbench.core.message import Message, Request, Sampling
from hbench.core.prompt import load_prompt, render
from hbench.core.trajectory import Trajectory, Turn, Work
from hbench.engines.files_expert import DONE, FilesExpert
from hbench.parts.domains.files import JOBS
from hbench.parts.part import build
from hbench.runtime.acting.reviewer import ReviewSession
from tests.runtime.reviewing import review

TOOLS = (Tool(EXECUTE, "Run a shell command.", {"command": "the command"}),)
FENCED = build("calls", {"kind": "fenced"})
HEAD = load_prompt("student/files")
BUDGET = 6


class Led:
    """One rollout on `question` in `folder`. says: the student's next message, from what it has seen."""

    def __init__(self, question, folder, says, call=FENCED, budget=BUDGET):
        self.question, self.folder, self.says, self.call, self.turns = question, folder, says, call, []
        self.domain = build("domains", {"kind": "files"})
        for path, content in self.domain.files(question).items():
            (folder / path).write_bytes(content)
        values = {"question": question.text, "calls": call.told(TOOLS), "notes": ""}
        self.head = tuple(render(HEAD, values))
        setting = review(budget=budget, turn_prompt=load_prompt("reviewer/turn_json").to_json())
        self.session = ReviewSession(setting, TOOLS, call, self._ask, None)

    async def _ask(self, talk):
        return (await FilesExpert().generate([Request(tuple(talk), Sampling(max_tokens=256))]))[0]

    def trajectory(self):
        return Trajectory(self.question.id, 0, self.head, tuple(self.turns))

    def play(self):
        """The rollout to its end; its score."""
        for _ in range(10):
            proposal = self.says(self.trajectory().messages)
            done = asyncio.run(self.session.turn(self.trajectory().messages, proposal))
            observation = self._observed(done.accepted)
            turn = Turn(proposal, done.verdict, done.accepted, observation, trouble=done.trouble, tries=done.tries)
            self.turns.append(turn)
            if observation is None:
                break
        self.trajectory().check()
        left = {str(p.relative_to(self.folder)): p.read_bytes() for p in self.folder.rglob("*") if p.is_file()}
        return self.domain.grade_work(Work(self.turns[-1].accepted, left), self.question)["score"]

    def _observed(self, said):
        try:
            action = self.call.parse(said, TOOLS)
        except CallFailure as bad:
            return self.call.observation(bad.message)
        if action.tool is None:
            return None
        ran = subprocess.run(
            ["bash", "-c", action.command], cwd=self.folder, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}
        )
        return self.call.observation((ran.stdout + ran.stderr).rstrip("\n") or "(no output)")


def question_of(job, number=0):
    return build("domains", {"kind": "files", "jobs": [job], "words": "tuning"}).questions(number, number + 1, seed=11)[0]


def rambling(_):
    return "Sure! Here is what I would do: first, open the file. Then count. The answer is 42."


@pytest.mark.parametrize("job", JOBS)
def test_a_student_that_only_talks_is_led_through_every_kind_of_job(job, tmp_path):
    led = Led(question_of(job), tmp_path, rambling)
    assert led.play() == 1.0
    assert {turn.verdict for turn in led.turns[:-1]} == {"replace"}
    assert {(turn.tries, turn.trouble) for turn in led.turns} == {(1, "")}
    assert len(led.turns) <= BUDGET


@pytest.mark.parametrize("job", JOBS)
def test_a_student_that_does_as_the_expert_does_is_never_replaced(job, tmp_path):
    def says(seen):
        return asyncio.run(FilesExpert().generate([Request(tuple(seen), Sampling())]))[0].text

    led = Led(question_of(job, 1), tmp_path, says)
    assert led.play() == 1.0
    assert led.trajectory().replaced == 0 and led.turns[-1].accepted == DONE


def test_a_mistake_is_replaced_before_it_is_made_and_what_is_right_stays_the_students_own(tmp_path):
    question = question_of("rename_to_note")
    said = iter(["```bash\nls\n```", "```bash\nrm *\n```", "two ```bash\nls\n``` ```bash\nls\n```", "I am done.", "All is renamed."])
    led = Led(question, tmp_path, lambda _: next(said))
    assert led.play() == 1.0
    assert [turn.verdict for turn in led.turns] == ["pass", "replace", "replace", "replace", "pass"]
    assert led.turns[-1].accepted == "All is renamed."


def test_calls_of_a_chat_template_are_followed_too(tmp_path):
    call = build("calls", {"kind": "tool_call"})
    led = Led(question_of("look_up"), tmp_path, rambling, call)
    assert led.play() == 1.0
    assert all("<tool_call>" in turn.accepted for turn in led.turns[:-1])


def test_past_the_budget_the_students_own_words_stand(tmp_path):
    said = iter(["I think.", "```bash\nbroken (\n```", "I give up."])
    led = Led(question_of("column"), tmp_path, lambda _: next(said), budget=1)
    assert led.play() == 0.0
    assert [turn.trouble for turn in led.turns] == ["", "budget", "budget"]
    assert "syntax error" in led.turns[1].observation.content and led.turns[-1].accepted == "I give up."


def test_nothing_of_the_review_is_in_what_the_student_reads(tmp_path):
    led = Led(question_of("move_found"), tmp_path, rambling)
    led.play()
    read = "\n".join(message.content for message in led.trajectory().messages)
    assert not [word for word in ("decision", "replace", "Sure!", "42", "proposal", "review") if word in read]
    assert Message("user", f"{led.question.text}\n") in led.head
