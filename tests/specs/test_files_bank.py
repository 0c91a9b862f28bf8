"""The hand-written bank and guidance of the domain `files`: they say so, fit each other, and do what they say."""

import subprocess
import sys

import pytest

from hbench.core.bank import components, problems
from hbench.core.guidance import path_of
from hbench.core.guidance import problems as guidance_problems
from hbench.core.harness import Harness
from hbench.core.private import leaked, private
from hbench.engines.filing.plans import understood
from hbench.parts.domains.files import JOBS
from hbench.parts.part import build
from hbench.spec.files import read_folder
from tests.where import REPO

BANK, GUIDANCE = read_folder("banks/files").texts, read_folder("guidance/files").texts
NOTHING = {"text": "", "tool": None, "arguments": None, "command": None, "answer": None, "unreadable": None}
DONE = {**NOTHING, "answer": "Done."}


def function(files, path, name):
    made = {}
    exec(compile(files[path], path, "exec"), made)
    return made[name]


def ran(*commands):
    """A history in which these commands were run."""
    blocks = [{"role": "assistant", "content": f"```bash\n{command}\n```"} for command in commands]
    return [{"role": "user", "content": "Do it. > "}, *blocks]


def run(command):
    return {**NOTHING, "command": command, "tool": "execute"}


def test_both_are_well_formed_and_say_that_they_were_written_by_hand():
    assert problems(BANK) == guidance_problems(GUIDANCE) == []
    assert [path for path, text in {**BANK, **GUIDANCE}.items() if "written by hand" not in text.lower()] == []


def test_every_component_has_its_translation():
    translated = {path_of(component) for component in components(Harness(dict(BANK)))}
    assert translated | {"checks/unreadable.py"} == set(GUIDANCE)


@pytest.mark.parametrize(
    ("history", "refused"),
    [
        (ran(), "Nothing was done"),
        (ran("wc -l < a.txt > b.txt"), "Look at"),
        (ran("sed -i 's/a/b/g' a.txt"), "Look at"),
        (ran("cat b.txt", "mv a.txt b.txt"), "Look at"),
        (ran("wc -l < a.txt > b.txt", "cat b.txt"), None),
        (ran("wc -l < a.txt > b.txt && cat b.txt"), None),
        (ran("ls"), None),
    ],
)
def test_an_answer_waits_until_the_last_change_was_looked_at(history, refused):
    said = function(BANK, "middlewares/read_back.py", "before")(DONE, history)
    found = function(GUIDANCE, "checks/read_back.py", "check")(DONE, history)
    assert (said is None) == (found is None) == (refused is None)
    assert refused is None or said.startswith(refused)
    assert function(BANK, "middlewares/read_back.py", "before")(run("ls"), history) is None


@pytest.mark.parametrize(
    ("command", "empties"),
    [
        ("sort a.txt > a.txt", True),
        ("cat a.txt b.txt >a.txt", True),
        ("ls; grep x ./a.txt > a.txt", True),
        ("sort a.txt > b.txt", False),
        ("sort a.txt >> a.txt", False),
        ("sort aa.txt > a.txt && cat a.txt", False),
        ("ls", False),
    ],
)
def test_a_command_that_empties_what_it_reads_is_noticed(command, empties):
    assert (function(BANK, "middlewares/no_overwrite.py", "before")(run(command), []) is not None) == empties
    assert (function(GUIDANCE, "checks/no_overwrite.py", "check")(run(command), []) is not None) == empties


def test_what_cannot_be_read_is_noticed():
    check = function(GUIDANCE, "checks/unreadable.py", "check")
    assert check({**NOTHING, "unreadable": "two blocks"}, [])["evidence"] == "two blocks"
    assert check(DONE, []) is check(run("ls"), []) is None


def test_the_tool_shows_every_file_with_its_first_lines(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.log").write_bytes(b"\xff\n")
    tool = REPO / "specs" / "banks" / "files" / "tools" / "folder.py"
    shown = subprocess.run([sys.executable, str(tool)], input="{}", cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[:5] == ["a.txt: 4 lines", "  one", "  two", "  three", "b/c.log: 1 lines"]


@pytest.mark.parametrize("job", JOBS)
def test_no_command_of_the_expert_gives_the_guidance_away(job):
    known = private(Harness(dict(GUIDANCE)))
    for question in build("domains", {"kind": "files", "jobs": [job]}).questions(0, 5, seed=1):
        assert leaked(f"```bash\n{next(understood(question.text).start())}\n```", known, question.text) is None
