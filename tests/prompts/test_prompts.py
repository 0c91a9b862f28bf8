"""The prompts that ship: each loads, names its family where recorded replies look for it, and fits its model."""

import pytest

from hbench.core.harness import Harness
from hbench.core.places import find_file
from hbench.core.prompt import load_prompt, render
from hbench.core.prompt_examples import ROLE_EXAMPLES
from hbench.core.prompt_source import known_prompts
from hbench.parts.edits.python_block import PythonBlock
from hbench.parts.edits.search_replace import SearchReplace
from tests.where import REPO

SHIPPED = [p.relative_to(REPO / "prompts").with_suffix("").as_posix() for p in sorted((REPO / "prompts").rglob("*.j2"))]
PARTS = {name for name in SHIPPED if name.split("/")[-1].startswith("_")} | {"report/api"}  # only ever included
WHOLE = [name for name in SHIPPED if name not in PARTS]
PROPOSERS = [name for name in WHOLE if name.startswith("proposer/")]
VALUES = {
    "family": {"name": "products", "description": "Multiply whole numbers."},
    "harness": find_file("specs", "harnesses/seed.py").read_text(),
    "report": "Score 0.100.\n",
    "edit": {"kind": "search_replace", "max_lines": 123},
}


@pytest.mark.parametrize("name", WHOLE)
def test_every_prompt_loads_with_the_values_of_its_role(name):
    assert load_prompt(name).variables is not None and name in known_prompts()


@pytest.mark.parametrize("name", PROPOSERS)
def test_a_proposer_prompt_is_a_system_and_a_user_message(name):
    system, user = render(load_prompt(name), VALUES)
    assert (system.role, user.role) == ("system", "user")
    assert "Family: products\n" in user.content and "Multiply whole numbers." in user.content
    assert VALUES["harness"].strip() in user.content and "Score 0.100." in user.content


@pytest.mark.parametrize("name", [n for n in PROPOSERS if "small" not in n and "mini" not in n])
def test_a_proposer_prompt_tells_the_tools_and_the_line_limit(name):
    system = render(load_prompt(name), VALUES)[0].content
    assert all(part in system for part in ("tools.lm", "tools.python", "run(question, tools)", "at most 123 lines"))


PARENT = Harness.of("def run(question, tools):\n    reply = tools.lm(question)\n    return reply\n")


@pytest.mark.parametrize("name", [n for n in PROPOSERS if "search_replace" in n])
def test_the_example_in_the_prompt_is_an_edit_that_applies(name):
    edits = SearchReplace()
    edit = edits.parse(render(load_prompt(name), VALUES)[0].content, "stop")
    assert edits.apply(PARENT, edit).text != PARENT.text


def test_the_example_of_a_whole_program_is_one():
    edits = PythonBlock()
    system = render(load_prompt("proposer/python_block"), VALUES)[0].content
    edit = edits.parse(system.split("# How to answer")[1], "stop")
    assert "def run" in edits.apply(PARENT, edit).text


def test_the_small_prompt_fits_a_small_context():
    """About 4 characters a token: with the seed and a short report at most 800 tokens."""
    report = render(load_prompt("report/small"), ROLE_EXAMPLES["report"][0])[0].content
    messages = render(load_prompt("proposer/search_replace_small"), VALUES | {"report": report})
    assert sum(len(m.content) for m in messages) <= 800 * 3
