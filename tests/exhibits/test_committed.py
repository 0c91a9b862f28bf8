"""What the repository keeps in results/exhibits is what `hbench exhibit --all` makes where there are only committed bundles."""

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hbench.cli import app
from hbench.exhibits.exhibit import names

pytestmark = pytest.mark.truth
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "results/exhibits"
KEPT = {".md", ".csv", ".tex", ".svg", ".html"}


def in_git(*words: str) -> bytes | None:
    """What git says; None where it cannot tell."""
    try:
        return subprocess.run(["git", *words], cwd=FOLDER, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


def kept() -> list[str]:
    """The files there that git knows; those that lie there, where there is no git."""
    listed = in_git("ls-files")
    return sorted(listed.decode().split("\n")[:-1] if listed is not None else (f.name for f in FOLDER.iterdir() if f.suffix in KEPT))


def is_kept(name: str, content: bytes) -> bool:
    """Whether the file is this. `hbench exhibit NAME` here puts another in its place: then what git holds counts."""
    file = FOLDER / name
    return file.is_file() and file.read_bytes() == content or in_git("show", f":./{name}") == content


@pytest.mark.slow
def test_every_exhibit_is_made_anew_byte_for_byte(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    (tmp_path / "published").symlink_to(ROOT / "results/published")
    done = CliRunner().invoke(app, ["exhibit", "--all", "--results", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert [line.split()[0] for line in done.stdout.splitlines()] == names()
    made = {file.name: file.read_bytes() for file in (tmp_path / "exhibits").iterdir() if file.suffix in KEPT}
    assert sorted(made) == kept(), "run `make exhibits`, and commit what is new"
    assert [name for name, content in made.items() if not is_kept(name, content)] == [], "run `make exhibits`"
