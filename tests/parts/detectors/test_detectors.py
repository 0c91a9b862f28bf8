"""Which behaviour each detector sees in a rollout."""

from dataclasses import replace

import pytest

from hbench.core.action import EXECUTE_TOOL, Tool
from hbench.core.failure import Failure
from hbench.core.rollout import Event
from hbench.parts.part import build
from tests.lived import ANSWER, Say, bash, lived


def ran(*commands, answer=ANSWER):
    """A rollout of these commands; of pairs the second is what was printed."""
    told = [each if isinstance(each, tuple) else (each, "done") for each in commands]
    return lived(*(Say(bash(command), told=output) for command, output in told), *([answer] if answer else []))


def shown(kind, acted, **fields):
    return build("detectors", {"kind": kind, **fields}).shown(acted)


def test_a_command_matches_as_often_as_asked():
    acted = ran("sort a.txt", "sort a.txt", "wc -l a.txt")
    assert shown("command_matches", acted, pattern=r"^sort\b")
    assert shown("command_matches", acted, pattern="sort", at_least=2)
    assert not shown("command_matches", acted, pattern="sort", at_least=3)
    assert not shown("command_matches", acted, pattern="sort", at_least=2, different=True)


def test_words_beside_a_command_are_no_command():
    acted = lived(Say(bash("ls", "I might use sort here.")), Say("I used sort.", told=None))
    assert not shown("command_matches", acted, pattern="sort")


def test_only_what_was_executed_counts_and_no_rejected_draft():
    acted = lived(Say(bash("rm a.txt"), bash("ls")), ANSWER)
    assert shown("command_matches", acted, pattern="ls") and not shown("command_matches", acted, pattern="rm")


def test_a_command_that_failed_may_be_left_out():
    acted = ran("sort a.txt")
    event = replace(acted.rollout.events[1], received={"output": "no such file", "code": 2})
    failed = replace(acted, rollout=replace(acted.rollout, events=(event,)))
    assert shown("command_matches", failed, pattern="sort") and not shown("command_matches", failed, pattern="sort", worked=True)


def test_the_commands_of_a_sub_agent_are_not_the_students():
    acted = ran("ls")
    below = Event("execute", "sort a.txt", {"output": "", "code": 0}, role="agent")
    acted = replace(acted, rollout=replace(acted.rollout, events=(*acted.rollout.events, below)))
    assert not shown("command_matches", acted, pattern="sort")


def test_parts_of_a_pattern_stand_one_behind_another():
    acted = ran("python3 - <<'E'\nimport openpyxl\nbook = openpyxl.load_workbook('a.xlsx', data_only=True)\nE")
    assert shown("command_matches", acted, pattern=["load_workbook", "data_only"])
    assert not shown("command_matches", acted, pattern=["data_only", "load_workbook"])
    assert shown("command_matches", acted, pattern="^book")


def test_a_tool_of_a_bank_is_seen_by_its_name_and_by_its_command():
    check = Tool("smiles_check", "Checks.", {})
    acted = lived(Say("```smiles_check\n{}\n```"), ANSWER, tools=(EXECUTE_TOOL, check))
    assert shown("tool_called", acted, names=["smiles_check"]) and shown("command_matches", acted, pattern="tools/smiles_")
    assert not shown("tool_called", acted, names=["smiles_check"], at_least=2)
    refused = replace(acted.trajectory.turns[0], failure=Failure("harness", "refused", "no"))
    acted = replace(acted, trajectory=replace(acted.trajectory, turns=(refused, acted.trajectory.turns[1])))
    assert not shown("tool_called", acted, names=["smiles_check"])


def test_a_command_behind_another_or_behind_what_it_printed():
    acted = ran(("python3 a.py", "Traceback (most recent call last):\nKeyError: 'x'"), "ls", "cat a.py")
    assert shown("observed_then", acted, observed="^Traceback", then=r"^cat\b")
    assert not shown("observed_then", acted, observed="^Traceback", then=r"^cat\b", within=1)
    assert shown("observed_then", acted, first="^python3", observed="KeyError", then="ls", within=1)
    assert not shown("observed_then", acted, first="^cat", then="^python3"), "order counts"
    assert not shown("observed_then", acted, first="^cat", then="^cat"), "a command is not behind itself"


def test_reading_first_is_reading_in_an_earlier_command():
    detector = {"reads": r"\bcat\b", "writes": ">"}
    assert shown("read_before_write", ran("cat a", "echo 1 > a"), **detector)
    assert not shown("read_before_write", ran("echo 1 > a", "cat a", "echo 2 > a"), **detector)
    assert not shown("read_before_write", ran("cat a > b"), **detector)
    assert not shown("read_before_write", ran("cat a"), **detector), "nothing was written"


def test_a_check_stands_between_the_last_change_and_the_answer():
    detector = {"checks": r"\bcat\b", "changes": ">"}
    assert shown("checked_before_answer", ran("echo 1 > a", "cat a"), **detector)
    assert not shown("checked_before_answer", ran("cat a", "echo 1 > a"), **detector)
    assert not shown("checked_before_answer", ran("echo 1 > a && cat a"), **detector)
    assert shown("checked_before_answer", ran("echo 1 > a && cat a"), **detector, same=True)
    assert not shown("checked_before_answer", ran("cat a"), **detector), "nothing was changed"
    assert not shown("checked_before_answer", ran("echo 1 > a", "cat a", answer=None), **detector)
    assert shown("checked_before_answer", ran("cat a"), checks="cat")


def test_an_answer_matches():
    assert shown("answer_matches", ran("ls", answer=Say("CCO.CC", told=None)), pattern=r"\S\.\S")
    assert not shown("answer_matches", ran("ls", answer=None), pattern="o")


def test_any_and_all_of_several():
    cat, sort = ({"kind": "command_matches", "pattern": each} for each in ("cat", "sort"))
    assert shown("any_of", ran("cat a"), detectors=[cat, sort]) and not shown("all_of", ran("cat a"), detectors=[cat, sort])
    assert shown("all_of", ran("sort a", "cat a"), detectors=[cat, sort])


def test_several_come_back_from_json_and_hash_what_they_hold():
    block = {"kind": "any_of", "detectors": [{"kind": "all_of", "detectors": [{"kind": "answer_matches", "pattern": "x"}]}]}
    made = build("detectors", block)
    inner = {"kind": "answer_matches", "pattern": ("x",), "version": 1}
    assert made.to_json()["detectors"][0]["detectors"][0] == {**inner, "pattern": ["x"]}
    assert build("detectors", made.to_json()) == made


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"kind": "observed_then", "then": "x"}, "name what comes first"),
        ({"kind": "any_of", "detectors": []}, "at least 1 item"),
        ({"kind": "any_of", "detectors": [{"kind": "comand_matches"}]}, "there is no detector 'comand_matches'"),
        ({"kind": "all_of", "detectors": [{"kind": "command_matches", "patern": "x"}]}, "command_matches pattern: Field required"),
        ({"kind": "command_matches", "pattern": "(x"}, "is no pattern"),
        ({"kind": "command_matches", "pattern": "x*"}, "is in every text"),
        ({"kind": "command_matches", "pattern": ["x", ""]}, "is in every text"),
        ({"kind": "command_matches", "pattern": []}, "one part at least"),
    ],
)
def test_what_cannot_detect_is_refused(block, said):
    with pytest.raises(ValueError, match=said):
        build("detectors", block)
