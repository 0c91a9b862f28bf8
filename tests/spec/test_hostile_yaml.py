"""Specs that are traps: tags that run code, aliases that grow. Nothing is made of them but a problem with its place."""

from pathlib import Path

import pytest
import yaml

from hbench.spec.source import parse

pytestmark = pytest.mark.attack
TAGS = {
    "call": "a: !!python/object/apply:os.mkdir ['{}']\n",
    "new object": "a: !!python/object/new:os.mkdir ['{}']\n",
    "in a key": "? !!python/object/apply:os.mkdir ['{}']\n: 1\n",
    "in a list": "a: [1, !!python/object/apply:os.mkdir ['{}']]\n",
    "name": "a: !!python/name:os.mkdir ''\n",
    "module": "a: !!python/module:antigravity ''\n",
    "shorthand": "%TAG !p! tag:yaml.org,2002:python/object/apply:\n---\na: !p!os.mkdir ['{}']\n",
    "binary": "a: !!binary aGJlbmNo\n",
    "set": "a: !!set {{x}}\n",
}
LAUGHS = "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
LAUGHS = f"a: &a [{', '.join('x' * 9)}]\n{LAUGHS}"


@pytest.mark.parametrize("how", TAGS)
def test_a_tag_is_a_problem_and_makes_nothing(how, tmp_path):
    found = parse(TAGS[how].format(tmp_path / "made"), Path("mine.yaml")).problems
    assert found and all(str(problem).startswith("mine.yaml:") for problem in found)
    assert not (tmp_path / "made").exists()


@pytest.mark.control
@pytest.mark.parametrize("how", ["call", "new object", "in a list", "shorthand"])
def test_control_a_reader_that_trusts_tags_runs_them(how, tmp_path):
    yaml.unsafe_load(TAGS[how].format(tmp_path / "made"))
    assert (tmp_path / "made").exists()


def test_aliases_of_aliases_are_not_followed():
    found = parse(LAUGHS, Path("mine.yaml")).problems
    assert "anchors and aliases are not read" in str(found[0])


@pytest.mark.control
def test_control_each_line_is_nine_times_the_one_before():
    small = yaml.safe_load("".join(LAUGHS.splitlines(True)[:4]))
    assert sum(str(small["d"]).count(letter) for letter in "x") == 9**4
