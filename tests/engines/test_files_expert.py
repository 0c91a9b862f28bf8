"""The expert at file jobs: it does every job by itself, and reviews by what commands do."""

import asyncio
import json
import subprocess

import pytest

from hbench.core.action import Tool
from hbench.core.message import Message, Request, Sampling
from hbench.core.model import ModelRef
from hbench.core.prompt import load_prompt, render
from hbench.core.trajectory import Work
from hbench.engines.filing.commands import units
from hbench.engines.filing.plans import understood
from hbench.engines.files_expert import AT_A_LOSS, DONE, FilesExpert
from hbench.engines.open_lm import open_lm
from hbench.parts.domains.files import JOBS
from hbench.parts.part import build
from hbench.spec.model_block import RulesBlock

FILES = build("domains", {"kind": "files"})
FAKE_TOOLS = [Tool("execute", "Run a command.", {"command": "the command"})]
FENCED = build("calls", {"kind": "fenced"})
SYSTEM = Message("system", "You work in a folder. To run a command, write it in one block:\n\n```bash\nCOMMAND\n```")
TURN = load_prompt("reviewer/turn_json")
COUNT = "Write the number of lines of oasis.txt that contain fig to whale.txt."
RENAME = "Rename bone.txt to the name written in truck.txt."


def said(messages, tools=None):
    request = Request(tuple(messages), Sampling(max_tokens=200), tools=tools)
    return asyncio.run(FilesExpert().generate([request]))[0].text


def block(command):
    return f"```bash\n{command}\n```"


def history(instruction, *ran):
    """As a student has seen it. ran: (command, what it printed)."""
    turns = [Message(*each) for command, output in ran for each in (("assistant", block(command)), ("user", output))]
    return [SYSTEM, Message("user", instruction), *turns]


def proposed(text):
    call = None if "```" not in text else text.split("```bash\n")[1].split("\n```")[0]
    answer = text if call is None else None
    arguments = call and {"command": call}
    tool = call and "execute"
    return {"text": text, "tool": tool, "arguments": arguments, "command": call, "answer": answer, "unreadable": None}


def asked(since, proposal, problem=None):
    return render(TURN, {"since": [m.to_json() for m in since], "proposal": proposal, "problem": problem})


def verdict(instruction, text, *ran):
    """On a student that says `text` after `ran`."""
    opening = Message("system", "You watch over a student.")
    return json.loads(said([opening, *asked(history(instruction, *ran), proposed(text))]))


def run(folder, command):
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    return done.stdout + done.stderr


def worked(question, folder):
    """The commands of the expert as a student, run by bash alone in `folder`; and the grades of what they leave."""
    for path, content in FILES.files(question).items():
        (folder / path).write_bytes(content)
    talk, commands = [SYSTEM, Message("user", question.text)], []
    while (reply := said(talk)).startswith("```bash"):
        commands.append(FENCED.parse(reply, ()).command)
        talk += [Message("assistant", reply), FENCED.observation(run(folder, commands[-1]))]
        assert len(commands) <= 4, f"{question.text} is not done after {commands}"
    assert reply == DONE, question.text
    left = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return commands, FILES.grade_work(Work(reply, left), question)


@pytest.mark.parametrize("job", JOBS)
def test_the_experts_commands_do_every_kind_of_job_in_plain_bash(job, tmp_path):
    for share in ("training", "tuning", "evaluation"):
        domain = build("domains", {"kind": "files", "jobs": [job], "words": share})
        for number, question in enumerate(domain.questions(0, 3, seed=7)):
            folder = tmp_path / f"{share}{number}"
            folder.mkdir()
            commands, grades = worked(question, folder)
            assert grades == {"score": 1.0, "made": 1.0, "kept": 1.0}, (question.text, commands)
            assert max(map(len, commands)) <= 60, "short enough to be learnt"


@pytest.mark.parametrize("job", JOBS)
def test_every_wording_of_a_job_is_understood_as_that_job(job):
    domain = build("domains", {"kind": "files", "jobs": [job]})
    read = [understood(question.text) for question in domain.questions(0, 40, seed=2)]
    assert None not in read
    assert len({each.plan for each in read}) == 1
    assert len({question.text.split()[0] for question in domain.questions(0, 40, seed=2)}) > 1


def test_kinds_of_job_are_told_apart():
    plans = [next(understood(question.text).start()).split(" ")[:2] for question in FILES.questions(0, len(JOBS), 3)]
    assert plans[:6] == [["wc", "-l"], ["wc", "-w"], ["grep", "-c"], ["grep", "-vc"], ["grep", plans[4][1]], ["grep", "-v"]]


def test_as_a_student_it_reads_what_came_back():
    assert said(history(RENAME)) == block("cat truck.txt")
    assert said(history(RENAME, ("cat truck.txt", "pearl.txt\n"))) == block("mv bone.txt pearl.txt")
    assert said(history(RENAME, ("cat truck.txt", "cat: truck.txt: No such file or directory"))) == AT_A_LOSS
    assert said(history("Write a poem about the sea.")) == AT_A_LOSS


def test_it_calls_as_the_chat_template_does_where_the_request_has_tools():
    tools = [{"type": "function", "function": {"name": "execute"}}]
    call = said([Message("user", RENAME)], tools)
    assert build("calls", {"kind": "tool_call"}).parse(call, FAKE_TOOLS).command == "cat truck.txt"
    after = [Message("user", RENAME), Message("assistant", call), Message("tool", "pearl.txt")]
    assert '"mv bone.txt pearl.txt"' in said(after, tools)


def test_where_it_is_offered_a_tool_that_shows_the_folder_it_calls_that_first():
    folder = Tool("folder", "Show every file.", {})
    told = Message("system", FENCED.told([*FAKE_TOOLS, folder]))
    first = said([told, Message("user", RENAME)])
    assert FENCED.parse(first, [*FAKE_TOOLS, folder]).tool == "folder"
    after = [told, Message("user", RENAME), Message("assistant", first), Message("user", "bone.txt: 1 lines")]
    assert said(after) == block("cat truck.txt")
    form = build("calls", {"kind": "tool_call"})
    call = said([Message("user", RENAME)], form.template_tools([*FAKE_TOOLS, folder]))
    assert form.parse(call, [*FAKE_TOOLS, folder]).tool == "folder"


@pytest.mark.parametrize(
    "command",
    [
        "grep -c fig oasis.txt > whale.txt",
        "grep  -c 'fig' ./oasis.txt >whale.txt",
        "cat oasis.txt | grep -c fig > whale.txt",
        "grep fig oasis.txt | wc -l > whale.txt",
        "grep -c fig < oasis.txt > whale.txt",
        "> whale.txt grep -c fig oasis.txt",
        "grep -c fig oasis.txt > whale.txt && cat whale.txt",
        "grep -c fig oasis.txt > whale.txt\ncat whale.txt",
    ],
)
def test_what_does_the_same_is_passed(command):
    assert verdict(COUNT, block(command)) == {"decision": "pass"}


@pytest.mark.parametrize(
    "command",
    [
        "grep -c fig whale.txt > oasis.txt",
        "grep -c fig oasis.txt >> whale.txt",
        "grep -vc fig oasis.txt > whale.txt",
        "grep -c figs oasis.txt > whale.txt",
        "grep -c fig oasis.txt > whale.txt && rm oasis.txt",
        "grep -c fig oasis.txt | tee whale.txt",
        'grep -c "$fig" oasis.txt > whale.txt',
        "grep -c fig oasis.txt > whale.txt; echo $(rm oasis.txt)",
        "grep -c fig oasis.txt > whale.txt &",
        "grep -c 'fig oasis.txt > whale.txt",
        "cat /etc/passwd",
        "cat other.txt",
        "rm -rf .",
        "ls > list.txt",
        "sort -o oasis.txt oasis.txt",
    ],
)
def test_what_does_something_else_is_replaced_by_the_next_command(command):
    said = verdict(COUNT, block(command))
    assert (said["decision"], said["command"]) == ("replace", "grep -c fig oasis.txt > whale.txt")


def test_two_looks_at_files_that_were_named_are_passed_and_no_third_and_none_twice():
    assert verdict(COUNT, block("cat oasis.txt"))["decision"] == "pass"
    assert verdict(COUNT, block("ls -l"), ("cat oasis.txt", "fig"))["decision"] == "pass"
    assert verdict(COUNT, block("cat oasis.txt"), ("cat oasis.txt", "fig"))["decision"] == "replace"
    assert verdict(COUNT, block("head -3 oasis.txt"), ("cat oasis.txt", "fig"), ("ls", ""))["decision"] == "replace"


def test_an_answer_before_the_job_is_done_is_replaced_and_a_short_one_after_it_is_passed():
    ran = ("grep -c fig oasis.txt > whale.txt", ""), ("cat whale.txt", "2\n")
    assert verdict(COUNT, "There are 2.")["command"] == "grep -c fig oasis.txt > whale.txt"
    assert verdict(COUNT, "There are 2.", *ran[:1])["command"] == "cat whale.txt"
    assert verdict(COUNT, "There are 2.", *ran) == {"decision": "pass"}
    assert verdict(COUNT, block("cat whale.txt"), *ran)["answer"] == DONE
    assert verdict(COUNT, "I am done. " * 20, *ran)["answer"] == DONE


def test_a_guess_at_what_only_a_look_can_tell_is_replaced_by_the_look():
    assert verdict(RENAME, block("mv bone.txt pearl.txt"))["command"] == "cat truck.txt"
    assert verdict(RENAME, block("cat truck.txt && mv bone.txt pearl.txt"))["command"] == "cat truck.txt"


def test_half_of_a_step_is_passed_and_the_other_half_comes_next():
    move = "Move all .log files into a new folder opal."
    assert verdict(move, block("mkdir -p opal/")) == {"decision": "pass"}
    assert verdict(move, block("ls"), ("mkdir -p opal", ""))["decision"] == "pass"
    assert verdict(move, "Done.", ("mkdir -p opal", ""))["command"] == "mv *.log opal"


def test_rambling_around_the_right_call_is_replaced_by_the_call_alone():
    right = block("grep -c fig oasis.txt > whale.txt")
    assert verdict(COUNT, f"I count.\n\n{right}")["decision"] == "pass"
    assert verdict(COUNT, f"{'I think about it. ' * 20}\n\n{right}")["decision"] == "replace"


def test_one_session_is_followed_through_its_deltas():
    """What was accepted is known from the verdicts; what was told since, from the deltas."""
    talk = [Message("system", "You watch over a student."), *asked(history(RENAME), proposed("Sure! I can help."))]
    first = said(talk)
    assert json.loads(first)["command"] == "cat truck.txt"
    talk += [Message("assistant", first), *asked([Message("user", "pearl.txt\n")], proposed(block("mv bone.txt pearl.txt")))]
    second = said(talk)
    assert json.loads(second) == {"decision": "pass"}
    talk += [Message("assistant", second), *asked([Message("user", "")], proposed(block("ls")))]
    third = said(talk)
    assert json.loads(third) == {"decision": "pass"}
    unreviewed = [Message("user", "pearl.txt\ntruck.txt"), Message("assistant", block("pwd")), Message("user", "/workspace")]
    talk += [Message("assistant", third), *asked(unreviewed, proposed("Done."))]
    assert json.loads(said(talk)) == {"decision": "pass"}


def test_what_it_does_not_understand_it_lets_pass():
    assert verdict("Write a poem.", "Roses are red.") == {"decision": "pass", "reason": AT_A_LOSS}
    lost = verdict(RENAME, "No.", ("cat truck.txt", "no such file"))
    assert lost == {"decision": "pass", "reason": AT_A_LOSS}


@pytest.mark.parametrize("text", ["'", '"', "((((", "a | | b", "&&", "<", "> >", "\\", "|", "a\x00b", "` `", "ü > ✓", " "])
def test_what_is_no_command_line_is_not_understood_and_breaks_nothing(text):
    assert verdict(COUNT, block(text))["decision"] == "replace"
    units(text)


def test_it_is_a_model_that_a_spec_can_name():
    ref = RulesBlock(kind="rules", name="files_expert").ref("reviewer")
    assert ref.identity == {"kind": "rules", "name": "files_expert", "version": FilesExpert.version}
    assert isinstance(open_lm(ref, {}), FilesExpert)
    with pytest.raises(Exception, match="files_expert 1 is here"):
        open_lm(ModelRef("reviewer", "rules:files_expert", {**ref.identity, "version": 9}), {})
