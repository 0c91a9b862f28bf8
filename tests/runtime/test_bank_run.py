"""h* in one rollout: what its bank adds, refuses and shows, with middlewares in the real python jail."""

import json
import subprocess

import pytest

from hbench.core.action import EXECUTE, Action
from hbench.core.bank import BrokenBank
from hbench.core.harness import Harness
from hbench.core.message import Message
from hbench.runtime.acting.bank_run import PLACE, BankRun
from tests.engines.jail.lab import jails_of, loop

TOOL = '''"""Add numbers."""
import json, sys

PARAMETERS = {"numbers": "a list of numbers"}
given = json.load(sys.stdin)
print(sum(given["numbers"]), given.get("note", ""))
'''
REFUSES = """
def before(call, history):
    if call["command"] and "rm " in call["command"]:
        return f"not after {len(history)} messages: " + call["command"]
"""
ADDS = """
def after(call, observation, history):
    print("aside")
    return "empty output" if not observation.strip() else None
"""
SEEN = [Message("system", "Work."), Message("user", "Sort names.txt.")]
LOOK = Action(EXECUTE, {"command": "cat names.txt"})
REMOVE = Action(EXECUTE, {"command": "rm names.txt"})


def bank_run() -> BankRun:
    return of({"tools/add.py": TOOL, "middlewares/guard.py": REFUSES, "middlewares/tell.py": ADDS})


def of(files: dict[str, str]) -> BankRun:
    return BankRun(Harness(files), jails_of("namespaces").python)


def before(run: BankRun, action: Action) -> str | None:
    return loop().run_until_complete(run.before(action, SEEN))


def after(run: BankRun, observation: str, action: Action = LOOK) -> str:
    return loop().run_until_complete(run.after(action, observation, SEEN))


def test_a_middleware_refuses_a_call_with_what_it_says_and_lets_others_run():
    run = bank_run()
    assert before(run, REMOVE) == "not after 2 messages: rm names.txt"
    assert before(run, LOOK) is None
    assert run.used == ("middlewares/guard.py",)


def test_a_middleware_adds_below_what_came_back_and_what_it_prints_is_nobodys():
    run = bank_run()
    assert after(run, "Ada\n") == "Ada\n"
    assert after(run, "") == "empty output"


def test_a_final_answer_can_be_refused():
    source = "def before(call, history):\n    return call['answer'] and f\"{call['tool']} {call['answer']}\"\n"
    run = of({"middlewares/m.py": source})
    assert before(run, Action(None, {}, "42")) == "None 42"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("raise ValueError('no')", "error"),
        ("import os; os._exit(0)", "error"),
        ("return 3", "bad_type"),
        ("return object()", "error"),
    ],
)
def test_a_middleware_that_fails_is_as_if_it_were_not_there(body, kind):
    run = of({"middlewares/bad.py": f"def before(call, history):\n    {body}\n", "middlewares/guard.py": REFUSES})
    told = before(run, REMOVE)
    failure = run.take_failure()
    assert told == "not after 2 messages: rm names.txt"
    assert (failure.boundary, failure.kind) == ("harness", kind) and "middlewares/bad.py, before: " in failure.message
    assert run.take_failure() is None and run.used == ("middlewares/guard.py",)


def test_a_middleware_without_end_is_ended(monkeypatch):
    monkeypatch.setattr("hbench.runtime.acting.bank_run.HOOK_S", 0.5)
    run = of({"middlewares/slow.py": "def after(call, observation, history):\n    while True: pass\n"})
    assert after(run, "Ada\n") == "Ada\n"
    assert run.take_failure().kind == "timeout"


def test_what_a_middleware_says_is_bounded():
    run = of({"middlewares/m.py": "def after(call, observation, history):\n    return 'x' * 5000\n"})
    assert len(after(run, "")) == 2000


def test_tools_are_told_beside_execute_and_run_in_the_workspace_with_their_arguments(tmp_path):
    run = bank_run()
    (tool,) = run.tools()
    assert (tool.name, tool.description) == ("add", "Add numbers.")
    for path, content in run.files().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    note = "it's $HOME; \"quoted\" `x` \\ é\n\ud800"
    command = run.command(Action("add", {"numbers": [1, 2, 3], "note": note}))
    here = command.replace(PLACE, str(tmp_path))
    environment = {"PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "utf-8:surrogatepass"}
    done = subprocess.run(["bash", "-c", here], capture_output=True, env=environment)
    assert done.stdout.decode("utf-8", "surrogatepass") == f"6 {note}\n"
    assert run.used == ("tools/add.py",)


def test_skills_and_memory_are_told_by_their_place_and_count_as_used_when_read():
    files = {"skills/csv/SKILL.md": "---\ndescription: how to read csv\n---\nUse awk.\n", "memory.md": "Check.\n"}
    run = of(files)
    assert run.notes().splitlines() == [
        "Notes that you can read with cat when they help:",
        "- $BANK/skills/csv/SKILL.md: how to read csv",
        "- $BANK/memory.md: what went wrong before",
    ]
    assert run.files() == {path: text.encode() for path, text in files.items()}
    assert before(run, Action(EXECUTE, {"command": "cat $BANK/memory.md"})) is None
    assert run.used == ("memory.md",)
    before(run, Action(EXECUTE, {"command": 'cat "$BANK"/skills/csv/SKILL.md'}))
    assert run.used == ("memory.md", "skills/csv/SKILL.md")


def test_what_is_switched_off_is_not_there_and_middlewares_are_no_files_of_the_workspace():
    off = json.dumps({"tools/add.py": False, "middlewares/guard.py": False})
    run = of({"tools/add.py": TOOL, "middlewares/guard.py": REFUSES, "memory.md": "Check.\n", "manifest.json": off})
    assert run.tools() == () and set(run.files()) == {"memory.md"} and before(run, REMOVE) is None


def test_an_empty_bank_adds_nothing():
    run = of({})
    assert (run.tools(), run.notes(), run.files(), run.used) == ((), "", {}, ())


def test_files_that_are_no_bank_are_an_error():
    with pytest.raises(BrokenBank, match="harness.py"):
        of({"harness.py": "x = 1\n"})
