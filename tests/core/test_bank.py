"""What a bank is made of: its components, what they say of themselves, and what is no component."""

import pytest

from hbench.core import bank as banks
from hbench.core.bank import BrokenBank
from hbench.core.harness import Harness

TOOL = '"""Count the lines of a file."""\nimport json, sys\n\nPARAMETERS = {"path": "the file"}\nprint(1)\n'
BEFORE = "def before(call, history):\n    return None\n"
SKILL = "---\nname: csv\ndescription: how to read csv files\n---\n\n# CSV\n\nUse awk.\n"
FILES = {
    "tools/count_lines.py": TOOL,
    "middlewares/look_first.py": BEFORE,
    "skills/csv/SKILL.md": SKILL,
    "memory.md": "Check what you wrote.\n",
    "manifest.json": '{"memory.md": false}\n',
}


def components(**more: str | None) -> dict[str, banks.Component]:
    files = {path: text for path, text in {**FILES, **more}.items() if text is not None}
    return {each.path: each for each in banks.components(Harness(files))}


def told(path: str, text: str) -> str:
    """What is wrong with a bank of this one file."""
    return "\n".join(banks.problems({path: text}))


def test_components_come_by_path_with_their_sort_and_name():
    found = [(each.path, each.sort, each.name) for each in banks.components(Harness(FILES))]
    assert found == [
        ("memory.md", "memory", "memory"),
        ("middlewares/look_first.py", "middleware", "look_first"),
        ("skills/csv/SKILL.md", "skill", "csv"),
        ("tools/count_lines.py", "tool", "count_lines"),
    ]


def test_the_manifest_switches_off_and_what_it_does_not_name_is_on():
    assert {path: each.enabled for path, each in components().items() if not each.enabled} == {"memory.md": False}
    assert all(each.enabled for each in components(**{"manifest.json": None}).values())


def test_a_tool_tells_its_docstring_and_its_parameters():
    tool = banks.tool_of(components()["tools/count_lines.py"])
    assert (tool.name, tool.description, tool.parameters) == ("count_lines", "Count the lines of a file.", {"path": "the file"})


def test_parameters_may_be_annotated():
    made = components(**{"tools/count_lines.py": TOOL.replace("PARAMETERS =", "PARAMETERS: dict[str, str] =")})
    assert banks.tool_of(made["tools/count_lines.py"]).parameters == {"path": "the file"}


def test_a_skill_is_told_by_its_description_else_by_its_first_line_of_text():
    assert banks.description(components()["skills/csv/SKILL.md"]) == "how to read csv files"
    plain = components(**{"skills/csv/SKILL.md": "# CSV\n\nUse awk.\n"})["skills/csv/SKILL.md"]
    assert banks.description(plain) == "Use awk."


def test_an_empty_bank_is_a_bank():
    assert banks.components(Harness({})) == ()


@pytest.mark.parametrize(
    ("path", "text", "what"),
    [
        ("harness.py", "x = 1\n", "a bank has tools/NAME.py"),
        ("tools/../x.py", TOOL, "a bank has tools/NAME.py"),
        ("tools/Upper.py", TOOL, "a bank has tools/NAME.py"),
        ("tools/x.py", "print(1)\n", "docstring"),
        ("tools/x.py", '"""Does."""\n', "PARAMETERS"),
        ("tools/x.py", '"""Does."""\nPARAMETERS = dict(a=1)\n', "PARAMETERS"),
        ("tools/x.py", '"""Does."""\nPARAMETERS = {"a": 1}\n', "PARAMETERS"),
        ("tools/x.py", "def (\n", "line 1: invalid syntax"),
        ("tools/execute.py", TOOL, "cannot be called execute"),
        ("tools/python.py", TOOL, "cannot be called python"),
        ("middlewares/x.py", "x = 1\n", "before(call, history) or after"),
        ("middlewares/x.py", "def before(call):\n    return None\n", "line 1: before takes (call, history)"),
        ("middlewares/x.py", "def after(call, observation, history):\n    return\n\nreturn 1\n", "line 4"),
        ("memory.md", " \n", "empty"),
        ("memory.md", "\ud800", "half a character"),
        ("memory.md", "x" * (banks.MOST_CHARS + 1), "20,000 are allowed"),
        ("manifest.json", "{", "no JSON"),
        ("manifest.json", '{"memory.md": "no"}', "true or false"),
        ("manifest.json", '{"memory.md": false}', "memory.md, which is not there"),
    ],
)
def test_what_is_wrong_is_said_with_its_path(path, text, what):
    assert path in told(path, text) and what in told(path, text)
    with pytest.raises(BrokenBank):
        banks.components(Harness({path: text}))


def test_a_bank_has_a_largest_size():
    many = {f"skills/s{i}/SKILL.md": "Look.\n" for i in range(banks.MOST_COMPONENTS + 2)}
    assert "at most 40 components" in "\n".join(banks.problems(many))
    large = {f"skills/s{i}/SKILL.md": "x" * 19_999 for i in range(11)}
    assert "200,000 are allowed" in "\n".join(banks.problems(large))


def test_a_component_that_goes_leaves_the_manifest_too():
    left = banks.without(FILES, "memory.md")
    assert "memory.md" not in left and banks.manifest(left) == {} and banks.problems(left) == []
