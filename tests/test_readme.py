"""Every command and every piece of code in README runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.where import REPO

README = (REPO / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    line.split("  #")[0].strip()
    for sort, text in BLOCKS
    if sort == "bash"
    for line in text.splitlines()
    if line.strip() and not line.startswith("#")
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A working folder with a quickstart of the same shape and fewer questions, so that the commands take seconds."""
    made = tmp_path_factory.mktemp("readme")
    (made / "specs").mkdir()
    small = (REPO / "specs/quickstart.yaml").read_text()
    for whole, fewer in (
        ("feedback: 8", "feedback: 2"),
        ("evaluation: 16", "evaluation: 2"),
        ("[products, lcm, word_sequence_reversal]", "[products]"),
        ("proposals: 8", "proposals: 1"),
        ("sequential: {rounds: 2", "sequential: {rounds: 1"),
        ("max_tokens: 96", "max_tokens: 8"),
        ("max_tokens: 24", "max_tokens: 8"),
    ):
        assert whole in small, f"the quickstart no longer says {whole!r}"
        small = small.replace(whole, fewer)
    small += "solver: {sampling: {max_tokens: 8}}\nproposer: {sampling: {max_tokens: 8}}\n"
    (made / "specs/quickstart.yaml").write_text(small)
    return made


def run(command: str, folder: Path) -> str:
    binary = Path(sys.executable).parent / "hbench"
    words = command.replace(".venv/bin/hbench", "hbench").replace("hbench", str(binary), 1)
    done = subprocess.run(words, shell=True, cwd=folder, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_every_hbench_command_runs_as_written(folder):
    commands = [c for c in COMMANDS if "hbench" in c.split()[0]]
    assert len(commands) >= 10
    for command in commands:
        run(command, folder)


@pytest.mark.slow
def test_the_python_code_runs_as_written(folder):
    code = next(text for sort, text in BLOCKS if sort == "python")
    done = subprocess.run([sys.executable, "-c", code + "\nprint(len(frame), result.outcome, len(specs))"],
                          cwd=folder, capture_output=True, text=True, timeout=400)  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows, outcome, points = done.stdout.split()
    assert int(rows) > 0 and outcome == "finished" and points == "1"


def test_every_make_target_named_is_in_the_makefile():
    makefile = (REPO / "Makefile").read_text()
    for command in COMMANDS:
        if command.startswith("make "):
            assert re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE), command


def test_every_yaml_example_is_a_spec(tmp_path, monkeypatch):
    from hbench.spec import load

    monkeypatch.chdir(tmp_path)
    examples = [text for sort, text in BLOCKS if sort == "yaml"]
    (tmp_path / "whole.yaml").write_text(examples[0])
    assert load("whole.yaml")[0].arms["main"].rounds == 2
    (tmp_path / "trained.yaml").write_text(examples[1])
    assert list(load("trained.yaml")[0].arms) == ["base", "sft", "rl", "multistep"]
    (tmp_path / "server.yaml").write_text(examples[0] + examples[2])
    assert load("server.yaml")[0].machine.models["solver"].base_url.endswith("/v1")


def test_every_path_named_is_there():
    named = re.findall(r"^\| `([^`]+)`", README, re.MULTILINE)
    assert named and all((REPO / path.split("`")[0]).exists() for path in named)
