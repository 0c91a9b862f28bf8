"""What lies in results/exhibits is what `hbench exhibit --all` makes where there is nothing but the committed bundles."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hbench.cli import app
from hbench.exhibits.exhibit import names

ROOT = Path(__file__).parents[2]
KEPT = {".md", ".csv", ".tex", ".svg", ".html"}


def kept(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix in KEPT}


@pytest.mark.slow
def test_every_exhibit_is_made_anew_byte_for_byte(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    (tmp_path / "published").symlink_to(ROOT / "results/published")
    done = CliRunner().invoke(app, ["exhibit", "--all", "--results", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert [line.split()[0] for line in done.stdout.splitlines()] == names()
    made, there = kept(tmp_path / "exhibits"), kept(ROOT / "results/exhibits")
    assert sorted(made) == sorted(there), "run `make exhibits`"
    assert [name for name in made if made[name] != there[name]] == [], "run `make exhibits`"
