"""Each package is one version of known bytes: every pin has its hashes, `make` asks pip to check them, and pip does."""

import hashlib
import os
import re
import shlex
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.where import REPO

FILES = sorted(REPO.glob("constraints*.txt"))
PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[\w.!+]+)( ; [^\n]+?)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n")
ENVIRONMENTS = ["install", "test-ray", ".venv-vllm/.installed", ".venv-appworld/.installed", ".venv-tools/.installed"]
EXTRAS = "local,train,retrieval,sheets,chemistry,benchmark,cluster,view,test"
# What lm-eval prints tables with asks for it, and never calls it here.
UNMET = "python-dateutil<3.0.0,>=2.8.0"


def pins(file: Path) -> dict[str, str]:
    """Package to version, of a file that has nothing beside pins and its first line."""
    head, _, rest = file.read_text().partition("\n")
    found = list(PIN.finditer(rest))
    assert head.startswith("# ") and "".join(each[0] for each in found) == rest, f"{file.name}: run `make lock`"
    return {canonicalize_name(each["name"]): each["version"] for each in found}


def installs() -> list[list[str]]:
    """What follows each `pip install` of the Makefile, whatever the `make` around this was told."""
    around = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "TORCH"))}
    done = subprocess.run(["make", "-n", "-B", *ENVIRONMENTS], cwd=REPO, env=around, capture_output=True, text=True, check=True)
    return [shlex.split(line.partition(" install ")[2]) for line in done.stdout.splitlines() if " pip " in line]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_pin_is_one_version_with_its_hashes(file):
    assert pins(file)


def test_make_installs_nothing_unchecked_but_torch_and_hbench_itself():
    checked = [words for words in installs() if {"--require-hashes", "--no-deps"} <= {*words}]
    assert {words[words.index("-r") + 1] for words in checked} == {file.name for file in FILES}
    unchecked = {words[-1] for words in installs() if words not in checked}
    assert {each.partition("==")[0] for each in unchecked} == {"torch", "."}


def test_what_is_built_for_hbench_is_built_by_what_is_pinned():
    wheels = [words[-1] for words in installs() if "--only-binary" in words]
    built = [words[-1] for words in installs() if "--no-build-isolation" in words]
    assert built == ["constraints-source.txt", "."] and "constraints.txt" in wheels
    assert {"setuptools", "hatchling", "editables"} <= {*pins(REPO / "constraints.txt")}


def test_the_pins_answer_all_that_hbench_and_its_extras_ask_for():
    torch = next(words[-1].split("==") for words in installs() if words[-1].startswith("torch=="))
    files = [REPO / f"constraints{each}.txt" for each in ("", "-source", "-cluster")]
    named = dict([torch, *(pin for file in files for pin in pins(file).items())])
    asked = [Requirement(f"hbench[{EXTRAS}]")]
    for each in asked:
        asked += [found for found in _asked_by(each) if found not in asked]
    assert {str(each).partition(";")[0] for each in asked[1:] if not _answers(named, each)} <= {UNMET}


def _asked_by(asked: Requirement) -> list[Requirement]:
    """What an installed package asks for here, with the extras that are asked of it."""
    try:
        found = [Requirement(line) for line in requires(asked.name) or ()]
    except PackageNotFoundError:
        return []
    extras = {"", *asked.extras}
    return [each for each in found if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras)]


def _answers(named: dict[str, str], asked: Requirement) -> bool:
    version = named.get(canonicalize_name(asked.name))
    return asked.name == "hbench" or version is not None and Version(version) in asked.specifier


def test_pip_refuses_an_archive_whose_hash_is_another(tmp_path):
    words = next(words for words in installs() if words[-1] == "constraints.txt")
    digest = _wheel(tmp_path / "tiny-1.0-py3-none-any.whl")
    good, bad = f"tiny==1.0 \\\n    --hash=sha256:{digest}\n", f"tiny==1.0 \\\n    --hash=sha256:{digest[::-1]}\n"
    for lines, code, said in ((bad, 1, "DO NOT MATCH THE HASHES"), ("tiny==1.0\n", 1, "Hashes are required"), (good, 0, "")):
        (tmp_path / "pins.txt").write_text(lines)
        done = _pip(tmp_path, *words[:-1], "pins.txt")
        assert (done.returncode, (tmp_path / "there/tiny.py").exists()) == (code, code == 0) and said in done.stderr, done.stderr


def _wheel(file: Path) -> str:
    """A wheel with one module; its hash."""
    wheel = "Wheel-Version: 1.0\nTag: py3-none-any\n"
    about = {"METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n", "RECORD": "", "WHEEL": wheel}
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tiny.py", "")
        for name, text in about.items():
            archive.writestr(f"tiny-1.0.dist-info/{name}", text)
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _pip(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """pip with a folder for an index, and no settings of this machine."""
    around = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")} | {"PIP_CONFIG_FILE": os.devnull}
    where = ["--no-index", "--find-links", str(folder), "--target", str(folder / "there")]
    command = [sys.executable, "-m", "pip", "install", *where, *words]
    return subprocess.run(command, cwd=folder, env=around, capture_output=True, text=True)
