"""Which trajectories each filter lets through."""

import pytest

from hbench.core.action import EXECUTE_TOOL, Tool
from hbench.core.private import private
from hbench.parts.part import build
from tests.lived import ANSWER, Say, bash, lived
from tests.runtime.reviewing import K

LOOK = Say(bash("cat names.txt"), told="b\na")
SECRET = private(K)


def reason(kind, acted, secret=SECRET, **fields):
    return build("filters", {"kind": kind, **fields}).reason_to_drop(acted, secret)


def test_a_failure_is_dropped_by_succeeded_alone():
    wrong = lived(LOOK, ANSWER, score=0.5)
    assert reason("succeeded", wrong) == "failed" and reason("succeeded", lived(LOOK, ANSWER)) is None
    assert reason("succeeded", wrong, least=0.5) is None
    assert reason("completed", wrong) is None


def test_another_grade_may_decide():
    assert reason("succeeded", lived(LOOK, ANSWER), grade="hard") == "failed"


def test_a_rollout_without_an_end_is_dropped_by_completed():
    assert reason("completed", lived(LOOK, LOOK, score=0.0)) == "not_completed"


@pytest.mark.parametrize(
    "said",
    [
        "As recipes/safe_sort.md says:",
        "The safe_sort recipe is best here.",
        "Blank lines at the end of a list are to be dropped before it is counted.",
        "I know that blank lines, at the end of a list, are to be dropped.",
        "It is as I said in <proposal>.",
    ],
)
def test_what_only_the_reviewer_read_is_a_leak(said):
    told = lived(LOOK, Say(bash("sort names.txt"), bash("sort -o names.txt names.txt", said)), ANSWER)
    assert reason("no_leak", told) == "leak"


def test_code_of_a_recipe_may_be_said():
    assert reason("no_leak", lived(LOOK, Say(bash("ls"), bash("sort -o FILE FILE")), ANSWER)) is None


def test_what_was_read_before_is_no_leak():
    told = "Blank lines at the end of a list are to be dropped before it is counted."
    assert reason("no_leak", lived(Say(bash("cat notes.txt"), told=told), Say(bash("ls", told)), ANSWER)) is None
    assert reason("no_leak", lived(Say(bash("ls", told)), Say(bash("cat notes.txt"), told=told), ANSWER)) == "leak"


def test_a_path_that_the_machine_shows_is_a_leak_and_its_own_messages_are_none():
    secret = (*SECRET, "No such file or directory was found by anybody here.", "patterns.md")
    assert reason("no_leak", lived(Say(bash("ls"), told="patterns.md"), ANSWER), secret) == "leak"
    said = "ls: No such file or directory was found by anybody here."
    assert reason("no_leak", lived(Say(bash("ls"), told=said), ANSWER), secret) is None


def test_further_names_may_be_forbidden():
    assert reason("no_leak", lived(LOOK, ANSWER), also=("names.txt",)) is None, "the question itself says it"
    assert reason("no_leak", lived(Say(bash("cat gold.txt")), ANSWER), also=("gold.txt",)) == "leak"


def test_tools_of_a_bank_are_dropped_by_their_names_and_their_folder():
    count = Tool("count", "Counts.", {})
    called = lived(Say("```count\n{}\n```"), ANSWER, tools=(EXECUTE_TOOL, count))
    assert reason("tool_names", called) == "tool" and reason("tool_names", called, allowed=("execute", "count")) is None
    for command in ("cat /bank/memory.md", "ls /bank", "cd '/bank' && cat memory.md", "ls /bank/", 'cat "$BANK/memory.md"', "ls ${BANK}"):
        assert reason("tool_names", lived(Say(bash(command)), ANSWER)) == "tool", command
    for command in ("cat data/bank/accounts.csv", "ls ./bank", "cat /banks.txt", "ls /bank-2", "echo $BANKS"):
        assert reason("tool_names", lived(Say(bash(command)), ANSWER)) is None, command
    assert reason("tool_names", lived(LOOK, Say("The /bank/ is closed.", told=None))) is None
