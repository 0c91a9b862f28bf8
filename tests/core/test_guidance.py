"""What guidance is made of."""

import pytest

from hbench.core import guidance
from hbench.core.bank import Component
from hbench.core.guidance import BrokenGuidance

CHECK = "def check(proposal, history):\n    return None\n"


@pytest.mark.parametrize(
    ("sort", "path"),
    [
        ("tool", "recipes/x.md"),
        ("middleware", "checks/x.py"),
        ("skill", "advice/x.md"),
        ("memory", "patterns.md"),
    ],
)
def test_each_component_of_a_bank_has_its_place(sort, path):
    assert guidance.path_of(Component("…", sort, "x", "…")) == path
    assert guidance.problems({path: CHECK}) == []


@pytest.mark.parametrize(
    ("path", "text", "what"),
    [
        ("tools/x.py", CHECK, "recipes/NAME.md"),
        ("checks/x.py", "def check(proposal):\n    return None\n", "check(proposal, history)"),
        ("checks/x.py", "check = None\n", "check(proposal, history)"),
        ("checks/x.py", "def (\n", "invalid syntax"),
        ("patterns.md", "\n", "empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_path(path, text, what):
    with pytest.raises(BrokenGuidance, match=r".*"):
        guidance.check({path: text})
    assert path in guidance.problems({path: text})[0] and what in guidance.problems({path: text})[0]
