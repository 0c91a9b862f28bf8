"""The wheel holds what a user needs: specs, prompts and published bundles travel with the package."""

import os
import subprocess
import sys
import zipfile

import pytest

from tests.where import REPO

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The wheel's contents in a folder of their own."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", str(REPO), "--no-deps", "--no-build-isolation", "-q", "-w", str(folder)]
    done = subprocess.run(build, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "site")
    return folder / "site"


def test_every_spec_prompt_and_bundle_of_the_tree_is_in_the_wheel(installed):
    for sort, place in (("specs", "specs"), ("prompts", "prompts"), ("published", "results/published")):
        here = {f.relative_to(REPO / place) for f in (REPO / place).rglob("*") if f.is_file()}
        there = {f.relative_to(installed / "hbench/shipped" / sort) for f in (installed / "hbench/shipped" / sort).rglob("*") if f.is_file()}
        assert here == there


def test_from_a_wheel_specs_are_found_in_any_folder(installed, tmp_path):
    around = {**os.environ, "PYTHONPATH": str(installed)}
    code = "import hbench.cli, sys; assert 'wheel' in hbench.__file__, hbench.__file__; hbench.cli.main()"
    for words, told in ((["check"], "experiments"), (["plan", "quickstart"], "evaluate"), (["kinds"], "adaptation")):
        done = subprocess.run([sys.executable, "-P", "-c", code, *words], cwd=tmp_path, env=around, capture_output=True, text=True)
        assert done.returncode == 0 and told in done.stdout, done.stdout + done.stderr
