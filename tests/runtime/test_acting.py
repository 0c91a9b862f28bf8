"""A student at work: what runs, what it is told, how a rollout ends, and what is noted of it."""

import json

import pytest

from hbench.core.failure import StepError
from hbench.core.message import LMError, Message, Reply
from hbench.parts.part import build
from hbench.steps import act_setting
from tests.runtime.acting import SUM, Played, bash, play, question, told

COPIED = [bash("cp in.txt out.txt"), "Done."]


def test_a_job_is_graded_by_what_is_left_in_the_workspace():
    acted = play(COPIED)
    rollout = acted.rollout
    assert (rollout.answer, rollout.completed, rollout.failure, rollout.grades["score"]) == ("Done.", True, None, 1.0)
    assert [event.kind for event in rollout.events] == ["lm", "execute", "lm"]
    assert rollout.usage.calls == 3 and rollout.usage.completion_tokens > 0
    assert [turn.tool for turn in acted.trajectory.turns] == ["execute", None]


def test_an_answer_is_graded_as_it_was_said():
    total = question(SUM).answer
    assert play([bash("cat in.txt"), total], SUM).rollout.grades["score"] == 1.0
    assert play([bash("cat in.txt"), f"The sum is {total}."], SUM).rollout.grades["score"] == 0.0


def test_the_student_reads_the_instruction_and_then_what_its_commands_print():
    played = Played([bash("cat in.txt"), "I looked."], SUM)
    acted = played.play()
    first, second = played.student.asked
    system, user = first.messages
    assert (user.role, user.content.strip()) == ("user", question(SUM).text)
    assert "```bash" in system.content and "agent" not in system.content
    numbers = "\n".join(str(number) for number in question(SUM).meta["numbers"])
    assert second.messages == (*first.messages, Message("assistant", bash("cat in.txt")), Message("user", numbers))
    assert acted.trajectory.seen(1) == second.messages


def test_files_stay_and_nothing_else_of_a_shell_does():
    acted = play([bash("cd /; X=1; echo here > ~/kept"), bash('cat kept; echo "[$X]"'), "Done."])
    assert told(acted)[1] == "here\n[]"


def test_how_a_command_ended_is_told_where_it_did_not_end_well():
    acted = play([bash("true"), bash("echo no >&2; exit 3"), bash("echo begun; sleep 300"), "Done."], target={"command_s": 4.0})
    assert told(acted) == ["(no output)", "no\n(exit code 3)", "begun\n(stopped after 4 s)", None]
    assert [turn.failure and turn.failure.kind for turn in acted.trajectory.turns] == [None, None, "timeout", None]


def test_the_middle_of_a_long_output_is_left_out():
    acted = play([bash("seq 100000"), "Done."], target={"observation_chars": 400})
    output = told(acted)[0]
    assert len(output) < 600 and output.startswith("1\n2\n") and output.endswith("99999\n100000")


def test_a_call_that_cannot_be_read_is_told_and_costs_a_turn():
    acted = play([bash("ls") + "\n" + bash("pwd"), "```python\n1\n```", *COPIED])
    kinds = [turn.failure and turn.failure.kind for turn in acted.trajectory.turns]
    assert kinds == ["several_calls", "unknown_tool", None, None]
    assert [turn.tool for turn in acted.trajectory.turns[:2]] == [None, None]
    assert "none was run" in told(acted)[0] and acted.rollout.grades["score"] == 1.0


def test_an_empty_message_is_no_answer():
    acted = play(["", *COPIED])
    assert acted.trajectory.turns[0].failure.kind == "empty" and acted.rollout.answer == "Done."


def test_a_message_that_was_cut_is_no_answer_and_no_call_without_an_end():
    cut = [Reply("I think that", "length"), Reply("```bash\nls", "length"), Reply(bash("ls"), "length")]
    acted = play([*cut, *COPIED])
    assert [turn.failure and turn.failure.kind for turn in acted.trajectory.turns[:3]] == ["truncated", "truncated", None]


def test_a_rollout_that_comes_to_no_answer_scores_nothing_whatever_it_left():
    acted = play([bash("cp in.txt out.txt")] * 3, target={"turns": 3})
    rollout = acted.rollout
    assert (rollout.answer, rollout.completed, rollout.grades["score"]) == (None, False, 0.0)
    assert (rollout.failure.boundary, rollout.failure.kind) == ("limits", "turns")
    assert len(acted.trajectory.turns) == 3


def test_a_history_that_no_longer_fits_ends_the_rollout_and_is_its_own_fault():
    acted = play([bash("ls"), LMError("too_long", "the prompt has 9 tokens, the context 8")])
    failure = acted.rollout.failure
    assert (failure.boundary, failure.kind, acted.rollout.completed) == ("limits", "context", False)
    assert len(acted.trajectory.turns) == 1


@pytest.mark.parametrize("kind", ["connection", "bad_request", "memory"])
def test_a_model_that_is_down_is_an_error_of_the_step(kind):
    with pytest.raises(StepError, match=f"the student gave no reply \\({kind}\\)"):
        play([bash("ls"), LMError(kind, "down")])


@pytest.mark.parametrize("beside", ["", "I list the files."])
def test_a_server_that_reads_calls_itself_is_an_error_that_says_what_to_do(beside):
    """What was said beside a call that the server took out was read as the final answer, and scored."""
    calls = [{"function": {"name": "execute", "arguments": "{}"}}]
    with pytest.raises(StepError, match="without a tool parser"):
        play([Reply(beside, "tool_calls", tool_calls=calls)])


def test_draws_are_those_of_the_question_and_the_repeat():
    def seeds(repeat, place):
        played = Played([*COPIED])
        played.play(repeat, place)
        return [request.seed for request in played.student.asked]

    assert seeds(0, 0) == seeds(0, 0)
    assert not set(seeds(0, 0)) & {*seeds(1, 0), *seeds(0, 1)}


def test_events_hold_what_was_new_and_the_requests_can_be_put_together_from_them():
    played = Played([bash("cat in.txt"), "```python\n1\n```", *COPIED])
    events = [event for event in played.play().rollout.events if event.kind == "lm"]
    before, rebuilt = [], []
    for event in events:
        sent = event.sent if isinstance(event.sent, list) else before[: event.sent["after"]] + event.sent["messages"]
        before = [*sent, {"role": "assistant", "content": event.received}]
        rebuilt.append(sent)
    assert rebuilt == [[message.to_json() for message in request.messages] for request in played.student.asked]
    assert all(len(json.dumps(event.sent)) < 300 for event in events[1:])


@pytest.mark.parametrize("form", ["json", "parameters"])
def test_a_chat_templates_own_format_is_given_the_tools_and_told_as_a_tool(form):
    call = build("calls", {"kind": "tool_call", "form": form})
    if form == "json":
        said = '<tool_call>\n{"name": "execute", "arguments": {"command": "cp in.txt out.txt"}}\n</tool_call>'
    else:
        said = "<tool_call>\n<function=execute>\n<parameter=command>\ncp in.txt out.txt\n</parameter>\n</function>\n</tool_call>"
    played = Played([said, "Done."], target={"call": call.to_json()})
    acted = played.play()
    assert acted.rollout.grades["score"] == 1.0 and acted.trajectory.turns[0].observation.role == "tool"
    assert [tool["function"]["name"] for tool in played.student.asked[0].tools] == ["execute"]
    assert "```" not in played.student.asked[0].messages[0].content


def test_workspaces_are_apart():
    played = Played([bash("echo 1 > mine; ls"), "Done.", bash("ls"), "Done."])
    assert told(played.play(0))[0] == "in.txt\nmine" and told(played.play(1))[0] == "in.txt"


def test_nothing_of_the_gold_answer_reaches_the_student():
    """The number of a copy is in its file, that of a sum nowhere."""
    played = Played([bash("ls -R . ; env"), "I give up."], SUM)
    played.play()
    assert question(SUM).answer not in "".join(message.content for request in played.student.asked for message in request.messages)


def test_a_text_that_is_no_utf8_does_not_stop_a_rollout():
    acted = play([bash(r"printf '\xff\xfe\n'"), bash("echo \ud800"), *COPIED])
    assert acted.rollout.grades["score"] == 1.0


def test_more_than_can_be_graded_is_a_failure_of_the_rollout_and_not_of_this_process(monkeypatch):
    """Files that are graded stand here five times over: one output of 200 MB took a gigabyte, and many rollouts go on at once."""
    monkeypatch.setattr(act_setting, "MOST_COLLECTED_MB", 1)
    failure = play([bash("head -c 2000000 /dev/zero > out.txt"), "Done."]).rollout.failure
    assert (failure.boundary, failure.kind) == ("limits", "collected")
    assert play(COPIED).rollout.failure is None
