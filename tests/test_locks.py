"""A change of behaviour raises the version, or is said to be none."""

import json

import pytest

from tests.behaviour import LOCKS, current

pytestmark = pytest.mark.truth


def test_behaviour_changes_only_with_a_new_version(tried):
    """Cached steps answer for what ran under the same version; if code changed and results may, old ones must not count."""
    locked, now = json.loads(LOCKS.read_text()), current()
    for name, entry in now.items():
        before = locked.get(name)
        assert before is not None, f"{name} is new: lock it with `python -m tests.behaviour`"
        same_version = entry["version"] == before["version"]
        assert not same_version or entry["digest"] == before["digest"], (
            f"{name} or what it calls has changed: raise its version if results may change, then run `python -m tests.behaviour`"
        )
        tried(name)
    assert set(locked) == set(now), "a kind is gone: run `python -m tests.behaviour`"


def test_comments_and_docstrings_are_no_behaviour():
    import ast

    from tests.behaviour import _without_docstrings

    one = ast.dump(_without_docstrings(ast.parse('def f():\n    "Says one thing."\n    return 1  # so\n')))
    other = ast.dump(_without_docstrings(ast.parse('def f():\n    "Says another."\n    return 1\n')))
    assert one == other
    assert one != ast.dump(_without_docstrings(ast.parse("def f():\n    return 2\n")))
