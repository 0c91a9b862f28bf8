"""The command `agent "TASK"`: one level deep, a history of its own, shells of its own in the same workspace."""

import pytest

from hbench.core.failure import StepError
from hbench.core.message import LMError
from tests.runtime.acting import Played, bash, told

AGENT = {"agent": True}


def scripted(*, student, agent):
    """Two scripts: the sub-agent is told by its task, which is all that it reads of the student."""
    left = {"student": iter(student), "agent": iter(agent)}
    return lambda request: next(left["agent" if "TASK" in request.messages[1].content else "student"])


def test_an_agent_works_in_the_same_folder_and_its_answer_is_printed():
    says = scripted(student=[bash('agent "TASK: copy"'), "Done."], agent=[bash("cp in.txt out.txt"), "Copied."])
    played = Played(says, target=AGENT)
    acted = played.play()
    assert told(acted)[0] == "Copied." and acted.rollout.grades["score"] == 1.0
    assert [(e.kind, e.role) for e in acted.rollout.events] == [
        ("lm", "student"), ("lm", "agent"), ("execute", "agent"), ("lm", "agent"), ("execute", "student"), ("lm", "student"),
    ]  # fmt: skip
    assert len(acted.trajectory.turns) == 2
    task = played.student.asked[1].messages
    assert len(task) == 2 and task[1].content.strip() == "TASK: copy" and "agent" not in task[0].content


def test_an_agent_cannot_start_another():
    says = scripted(student=[bash("agent TASK"), "Done."], agent=[bash("agent TASK; echo after"), "It said no."])
    played = Played(says, target=AGENT)
    assert told(played.play())[0] == "It said no."
    assert "cannot start another" in played.student.asked[2].messages[-1].content


def test_turns_of_agents_are_bounded_over_a_rollout():
    says = scripted(student=[bash("agent TASK one"), bash("agent TASK two"), "Done."], agent=[bash("true")] * 3)
    acted = Played(says, target={**AGENT, "turns": 3}).play()
    assert told(acted)[:2] == ["(no turns are left for agents)"] * 2


def test_two_agents_are_never_at_work_at_once():
    says = scripted(student=[bash("agent TASK & agent TASK; wait"), "Done."], agent=["I am done.", "I am done."])
    printed = told(Played(says, target=AGENT).play())[0]
    assert "I am done." in printed and len(printed.splitlines()) == 2


def test_a_task_may_come_on_standard_input_and_none_is_told():
    says = scripted(student=[bash("echo TASK | agent"), bash("agent </dev/null"), "Done."], agent=["Heard."])
    assert told(Played(says, target=AGENT).play())[:2] == ["Heard.", 'usage: agent "TASK"']


def test_an_agent_that_read_too_much_says_so_and_a_model_that_is_down_ends_the_step():
    says = scripted(student=[bash("agent TASK"), "Done."], agent=[LMError("too_long", "full")])
    assert "context" in told(Played(says, target=AGENT).play())[0]
    with pytest.raises(StepError, match="gave no reply"):
        Played(scripted(student=[bash("agent TASK")], agent=[LMError("connection", "down")]), target=AGENT).play()


def test_without_the_field_there_is_no_such_command():
    acted = Played([bash("agent TASK"), "Done."]).play()
    assert "exit code 127" in told(acted)[0]
