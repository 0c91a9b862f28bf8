"""A folder that somebody else has filled, as a bank or as guidance: its texts, or what is wrong with it, soon and by name."""

import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from hbench.core.brief_folder import brief_folder
from hbench.core.text_folder import MOST_FILES, texts_in
from tests.thorough import often

CANARY = "canary-2b70"


def deep(folder: Path) -> None:
    """Deeper than a path can be long."""
    here = os.getcwd()
    os.chdir(folder)
    try:
        for _ in range(often(1200, 5000)):
            os.mkdir("deep")
            os.chdir("deep")
    finally:
        os.chdir(here)


def many(folder: Path) -> None:
    for number in range(often(1000, 100_000)):
        (folder / f"{number}.md").touch()


def sparse(folder: Path) -> None:
    with (folder / "memory.md").open("wb") as file:
        file.truncate(1 << 30)


def device(folder: Path) -> None:
    """As an ordinary user can have one."""
    (folder / "memory.md").symlink_to("/dev/zero")


SECRET = Path("..") / "secret"
HOSTILE = {
    "a link out of it": (lambda folder: (folder / "memory.md").symlink_to(SECRET), "memory.md is a link"),
    "a link to a folder of the system": (lambda folder: (folder / "skills").symlink_to("/etc"), "skills is a link"),
    "a link to itself": (lambda folder: (folder / "memory.md").symlink_to("memory.md"), "memory.md is a link"),
    "a link to the folder that it is in": (lambda folder: (folder / "skills").symlink_to("."), "skills is a link"),
    "a link to nothing": (lambda folder: (folder / "memory.md").symlink_to("gone"), "memory.md is a link"),
    "a link to a device": (device, "memory.md is a link"),
    "a pipe": (lambda folder: os.mkfifo(folder / "memory.md"), "memory.md is no regular file"),
    "a name that is no text": (lambda folder: (folder / os.fsdecode(b"\xff.md")).touch(), r"the name '\\udcff.md' is no text"),
    "bytes that are no text": (lambda folder: (folder / "memory.md").write_bytes(b"\xff\xfe\0"), "memory.md is not UTF-8 text"),
    "files without number": (many, f"there are more than {MOST_FILES} files and folders"),
    "folders in folders": (deep, f"there are more than {MOST_FILES} files and folders"),
    "a gigabyte of nothing": (sparse, "memory.md is larger than 1048576 bytes"),
}


@contextmanager
def beside_a_secret():
    with brief_folder("hbench-test-") as made:
        (made / "secret").write_text(CANARY)
        (made / "bank").mkdir()
        yield made / "bank"


@pytest.fixture
def folder():
    with beside_a_secret() as made:
        (made / "fine.md").write_text("Look first.\n")
        yield made


@pytest.mark.attack
def test_what_is_no_folder_of_texts_is_refused_by_name(tried):
    """Links were followed: a bank of somebody else's could show a model whatever its user can read. A deep one was a crash."""
    for what, (spoil, told) in HOSTILE.items():
        tried(what)
        with beside_a_secret() as folder:
            spoil(folder)
            with pytest.raises(ValueError, match=told):
                texts_in(folder)
        assert not folder.parent.exists(), what


@pytest.mark.attack
@pytest.mark.control
def test_control_what_a_link_leads_to_could_be_read(folder):
    (folder / "memory.md").symlink_to(SECRET)
    assert (folder / "memory.md").read_text() == CANARY
    (folder / "memory.md").unlink()
    assert texts_in(folder) == {"fine.md": "Look first.\n"}


@pytest.mark.attack
def test_a_folder_that_is_a_link_itself_is_none(folder):
    """The copy that an agent was given could become the folder of its traces."""
    (folder.parent / "other").symlink_to(folder)
    with pytest.raises(ValueError, match="other is a link"):
        texts_in(folder.parent / "other")


def test_what_is_hidden_is_passed_over_and_a_second_name_of_a_file_is_that_file(folder):
    (folder / "skills" / "csv").mkdir(parents=True)
    os.link(folder / "fine.md", folder / "skills" / "csv" / "SKILL.md")
    for hidden in (".git", "__pycache__", "skills/.idea"):
        (folder / hidden).mkdir()
        (folder / hidden / "x").write_bytes(b"\xff")
    assert texts_in(folder) == {"fine.md": "Look first.\n", "skills/csv/SKILL.md": "Look first.\n"}
