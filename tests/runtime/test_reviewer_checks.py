"""Checks of the guidance look at each proposal in the real python jail; one that breaks finds nothing, and says so."""

import pytest

from hbench.core.harness import Harness
from hbench.runtime.acting import checks
from tests.engines.jail.lab import jails_of
from tests.runtime.reviewing import CALL, K, Played, TOOLS, command, verdict

LS, SORT = command("ls"), command("sort -o names.txt names.txt")
SELECTIVE = {"kind": "checks", "turns": []}


@pytest.fixture
def jail():
    """python() of the jail that all tests share."""
    return jails_of("auto").python


def with_check(source):
    return Harness({"checks/one.py": source})


def played(jail, answers, **fields):
    return Played(answers, run_python=jail, **fields)


def test_what_a_check_finds_is_told_to_the_reviewer(jail):
    rollout = played(jail, [verdict(), verdict()], guidance=K)
    first, second = rollout.play(LS, SORT)
    assert (first.checks, second.checks) == ((), ("looks_first",))
    assert "<findings>" not in rollout.told[0]
    assert "looks_first: It writes names.txt. Have every file looked at before it is written to." in rollout.told[1]


def test_selective_review_asks_only_where_a_check_finds_something(jail):
    rollout = played(jail, [verdict("replace", command="head names.txt")], guidance=K, when=SELECTIVE)
    first, second, third = rollout.play(LS, SORT, SORT)
    assert [each.trouble for each in (first, second, third)] == ["unreviewed", "", "unreviewed"]
    assert second.accepted == command("head names.txt") and len(rollout.lm.asked) == 1
    assert "observation 0" in rollout.told[0] and "```bash\nls\n```" in rollout.told[0]


def test_what_a_check_tells_is_as_private_as_the_guidance(jail):
    leak = verdict("replace", command="head names.txt", reasoning="I must have every file looked at before it is written to.")
    (reviewed,) = played(jail, lambda _: leak, guidance=K).play(SORT)
    assert (reviewed.accepted, reviewed.trouble, reviewed.checks) == (SORT, "leaked", ("looks_first",))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise ValueError('oops')", "one (error)"),
        ("while True: pass", "one (timeout)"),
        ("import os; os._exit(0)", "one (error)"),
        ("return 'a finding'", "one (bad_type)"),
        ("return {'evidence': 'it is so'}", "one (bad_type)"),
        ("return {'evidence': 'it is so', 'instruction': 3}", "one (bad_type)"),
        ("return object()", "one (error)"),
        ("return open('/etc/passwd').read()", "one (error)"),
    ],
)
def test_a_check_that_breaks_finds_nothing_and_is_on_record(jail, monkeypatch, body, told):
    if "timeout" in told:
        monkeypatch.setattr(checks, "CHECK_S", 1.0)
    guidance = with_check(f"def check(proposal, history):\n    {body}\n")
    (reviewed,) = played(jail, [verdict()], guidance=guidance).play(LS)
    assert (reviewed.checks, reviewed.trouble, reviewed.accepted) == ((told,), "", LS)
    (reviewed,) = played(jail, [], guidance=guidance, when=SELECTIVE).play(LS)
    assert (reviewed.checks, reviewed.trouble) == ((told,), "unreviewed")


def test_a_check_sees_the_proposal_and_what_the_student_has_seen_and_nothing_else(jail):
    source = "def check(proposal, history):\n    return {'evidence': repr(proposal), 'instruction': repr(history)}\n"
    rollout = played(jail, [verdict(), verdict("replace", command="pwd", reason="because")] * 2, guidance=with_check(source))
    rollout.play(LS, SORT, "It is sorted.")
    assert "'command': 'ls'" in rollout.told[0] and "'answer': None" in rollout.told[0]
    assert "'answer': 'It is sorted.'" in rollout.told[2] and "'command': None" in rollout.told[2]
    shown = rollout.told[2].split("<findings>")[1]
    assert "observation 1" in shown and "pwd" in shown and "because" not in shown and "sort -o" not in shown


def test_one_broken_check_takes_nothing_from_the_others(jail):
    broken = "def check(proposal, history):\n    print('what a check prints is no finding')\n    return 1 / 0\n"
    guidance = Harness({**K.files, "checks/a.py": broken})
    (reviewed,) = played(jail, [verdict()], guidance=guidance).play(SORT)
    assert reviewed.checks == ("a (error)", "looks_first")


def test_checks_are_not_run_where_nobody_reviews():
    turns = {"kind": "turns", "turns": [1]}
    assert Played([], guidance=K, when=turns).play(LS)[0].trouble == "unreviewed"
    assert Played([], guidance=K, budget=0).play(SORT)[0].trouble == "budget"


@pytest.mark.parametrize(
    ("proposal", "told"),
    [
        (LS, {"tool": "execute", "arguments": {"command": "ls"}, "command": "ls"}),
        ("It is 42.", {"answer": "It is 42."}),
        (LS + "\n\n" + LS, {"unreadable": None}),
    ],
)
def test_a_proposal_as_a_check_gets_it(proposal, told):
    nothing = dict.fromkeys(("tool", "arguments", "command", "answer", "unreadable"))
    given = checks.told_to_checks(proposal, TOOLS, CALL)
    if "unreadable" in told:
        assert given.pop("unreadable")
    assert given == {k: v for k, v in {**nothing, "text": proposal, **told}.items() if k in given}


def test_a_turn_costs_one_jail_call_a_check():
    asked = []

    async def run_python(code, **setting):
        asked.append(setting)
        return {"stdout": "", "stderr": "", "ok": False}

    Played([verdict()], run_python=run_python, guidance=K).play(LS)
    assert len(asked) == 1
