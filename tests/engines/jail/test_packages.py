"""What belongs to a distribution: its files, and what it needs."""

import os
import sys

import pytest

from hbench.core.failure import HbenchError
from hbench.engines.jail.packages import entries


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of distributions that Python finds."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def install(name: str, files: list[str], *needs: str, recorded: bool = True) -> None:
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        lines = [f"Name: {name}", "Version: 1.0", *(f"Requires-Dist: {need}" for need in needs)]
        (about / "METADATA").write_text("Metadata-Version: 2.1\n" + "\n".join(lines) + "\n")
        for file in files:
            (tmp_path / file).parent.mkdir(exist_ok=True, parents=True)
            (tmp_path / file).touch()
        if recorded:
            (about / "RECORD").write_text("\n".join(f"{file},," for file in [*files, f"{about.name}/METADATA"]))
        else:
            (about / "top_level.txt").write_text(name + "\n")

    return install


def names(*packages: str) -> list[str]:
    return [os.path.basename(place) for place in entries(packages)]


def test_its_folders_and_modules_with_those_of_what_it_needs(site):
    site("one", ["one/a.py", "one/b/c.py", "one.libs/d.so"], "Two_Parts>=1", "three[fast] ; python_version >= '3'")
    site("two_parts", ["two.py", "two_extra/x.py", "__pycache__/two.pyc", "two.pth"])
    site("three", ["three/x.py"], "one")
    found = names("one")
    assert found == ["one", "one-1.0.dist-info", "one.libs", "three", "three-1.0.dist-info", *found[5:]]
    assert found[5:] == ["two.py", "two_extra", "two_parts-1.0.dist-info"]


def test_extras_and_what_another_system_needs_are_left_out(site):
    site("one", ["one/a.py"], "nothing-like-it ; extra == 'all'", "no-such-thing ; sys_platform == 'win32'")
    assert names("one") == ["one", "one-1.0.dist-info"]


def test_nothing_is_needed_for_nothing():
    assert entries(()) == []


def test_what_is_missing_is_told_with_who_needs_it(site):
    site("one", ["one/a.py"], "no-such-thing>=2")
    with pytest.raises(HbenchError, match="^one needs no-such-thing, which is not installed: pip install no-such-thing$"):
        entries(["one"])


def test_without_a_record_its_modules_are_its_files(site):
    site("one", ["one/a.py"], recorded=False)
    assert names("one") == ["one"]
    site("two", [], recorded=False)
    with pytest.raises(HbenchError, match="two is installed without a record"):
        entries(["two"])
