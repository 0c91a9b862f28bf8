"""Changes of several components: whole files, blocks and deletions, each under its path with what it rests on."""

import pytest

from hbench.core.failure import EditFailure
from hbench.core.harness import Harness
from hbench.core.prompt import load_prompt, render
from hbench.core.prompt_examples import ROLE_EXAMPLES
from hbench.parts.edits._files import read_file
from hbench.parts.edits.bank import Bank

TOOL = '"""Count lines."""\nPARAMETERS = {"path": "the file"}\nprint(1)\n'
PARENT = Harness(
    {
        "tools/count.py": TOOL,
        "memory.md": "Look first.\n\nCheck the result.\n",
        "skills/old/SKILL.md": "Old.\n",
        "manifest.json": '{"skills/old/SKILL.md": false}\n',
    }
)


def written(path: str, text: str, cites: str = "a1") -> str:
    return f"FILE: {path}\nCITES: {cites}\nWHY: so\n<<<<<<< WRITE\n{text}>>>>>>> WRITE\n"


def failure(response: str, parent: Harness = PARENT, **fields) -> tuple[str, str]:
    bank = Bank(**fields)
    with pytest.raises(EditFailure) as found:
        bank.apply(parent, bank.parse(response))
    return found.value.failure.kind, found.value.failure.message


def applied(response: str) -> dict[str, str]:
    bank = Bank()
    return dict(bank.apply(PARENT, bank.parse(response)).files)


def test_a_whole_file_is_written_as_it_stands_with_rows_of_equals_and_fences_inside():
    text = "# Title\n=======\n\n```bash\nls\n```\nFILE: tools/x.py\n"
    assert applied(written("skills/new/SKILL.md", text))["skills/new/SKILL.md"] == text


def test_a_fence_around_a_whole_program_is_not_the_programs():
    assert applied(written("tools/new.py", f"```python\n{TOOL}```\n"))["tools/new.py"] == TOOL


def test_blocks_change_lines_of_the_file_they_stand_under():
    response = "FILE: memory.md\ncites: a1\n<<<<<<< SEARCH\nCheck the result.\n=======\nCheck it twice.\n>>>>>>> REPLACE\n"
    assert applied(response)["memory.md"] == "Look first.\n\nCheck it twice.\n"


def test_a_deleted_component_leaves_the_manifest_too():
    files = applied("FILE: skills/old/SKILL.md\nCITES: a1\nDELETE\n")
    assert "skills/old/SKILL.md" not in files and files["manifest.json"] == "{}\n"


def test_a_change_tells_what_it_rests_on_and_why():
    edit = Bank().parse("Counting fails.\n" + written("tools/new.py", TOOL, "[a1, `b2`] c3"))
    (change,) = edit.changes
    assert (change.cites, change.why, edit.explanation) == (("a1", "b2", "c3"), "so", "Counting fails.")


def test_marks_of_markdown_around_the_heads_are_forgiven():
    response = written("tools/new.py", TOOL).replace("FILE: tools/new.py", "**FILE:** `tools/new.py`").replace("CITES:", "**Cites:**")
    (change,) = Bank().parse(response).changes
    assert (change.path, change.cites) == ("tools/new.py", ("a1",))


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        ("I would change nothing.", "no_edit_blocks"),
        ("<think>FILE: memory.md", "no_edit_blocks"),
        ("FILE: memory.md\nCITES: a1\nMake it better.\n", "malformed_block"),
        (written("memory.md", "x\n") + written("memory.md", "y\n"), "malformed_block"),
        ("FILE: memory.md\n<<<<<<< WRITE\nx\n>>>>>>> WRITE\n<<<<<<< WRITE\ny\n>>>>>>> WRITE\n", "malformed_block"),
        ("FILE: memory.md\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< WRITE\ny\n>>>>>>> WRITE\n", "malformed_block"),
        ("FILE: memory.md\n<<<<<<< WRITE\nx\n", "unterminated_block"),
        ("FILE: memory.md\n<<<<<<< SEARCH\nx\n>>>>>>> REPLACE\n", "malformed_block"),
        ("FILE: memory.md\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n", "empty_search"),
        (written("harness.py", "x = 1\n"), "outside_bank"),
        (written("tools/../../x.py", TOOL), "outside_bank"),
        (written("prompts/student/execute.j2", "x\n"), "outside_bank"),
        ("FILE: tools/none.py\nDELETE\n", "file_not_found"),
        ("FILE: tools/none.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", "file_not_found"),
        ("FILE: memory.md\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", "search_not_found"),
        (written("tools/new.py", "print(1)\n"), "bad_component"),
        (written("tools/execute.py", TOOL), "bad_component"),
        (written("manifest.json", '{"tools/none.py": false}\n'), "bad_component"),
        (written("tools/count.py", TOOL + "# ... rest unchanged\n"), "elided_code"),
        (written("tools/count.py", TOOL), "no_change"),
    ],
)
def test_what_cannot_be_taken_has_a_name(response, kind):
    assert failure(response)[0] == kind


def test_a_response_cut_at_the_token_limit_changes_nothing():
    with pytest.raises(EditFailure, match="truncated_response"):
        Bank().parse(written("memory.md", "x\n"), "length")


def test_an_edit_changes_no_more_files_than_it_may():
    response = "".join(written(f"skills/s{i}/SKILL.md", "Look.\n") for i in range(3))
    assert failure(response, most=2) == ("too_many_files", "3 files change; 2 may")


def test_the_example_in_the_prompt_is_an_edit():
    values = {**ROLE_EXAMPLES["evolver"][0], "folder": False}
    system = render(load_prompt("evolver/edit"), values)[0].content
    edit = Bank().parse(system.split("# How to answer")[1])
    assert [(change.path, change.action) for change in edit.changes] == [
        ("tools/count_lines.py", "write"),
        ("memory.md", "edit"),
        ("skills/old_advice/SKILL.md", "delete"),
    ]
    parent = Harness({"memory.md": "Check the result.\n", "skills/old_advice/SKILL.md": "Guess.\n"})
    assert set(Bank().apply(parent, edit).files) == {"tools/count_lines.py", "memory.md"}


@pytest.mark.parametrize(
    ("response", "path", "text"),
    [
        ("Here:\n<<<<<<< WRITE\na\n>>>>>>> WRITE\nDone.", "advice/x.md", "a\n"),
        ("<<<<<<< WRITE\na\n>>>>>>> WRITE\nBetter:\n<<<<<<< WRITE\nb\n>>>>>>> WRITE\n", "advice/x.md", "b\n"),
        ("So:\n```python\nx = 1\n```\n", "checks/x.py", "x = 1\n"),
        ("Look at it first.", "advice/x.md", "Look at it first.\n"),
    ],
)
def test_one_file_is_read_out_of_a_response(response, path, text):
    assert read_file(response, path) == text
