"""What the three suites say at their end."""

import subprocess
import sys

import pytest

from tests.where import REPO

TESTS = '''
import pytest

@pytest.mark.attack
def test_two(tried):
    tried("one")
    tried("other")
    tried("other")

@pytest.mark.attack
@pytest.mark.parametrize("number", [1, 2])
def test_under_its_name(number):
    assert number == 1

@pytest.mark.attack
@pytest.mark.control
def test_control():
    pass

@pytest.mark.fault
def test_skipped():
    pytest.skip("not here")

@pytest.mark.truth
def test_claim(tried):
    tried("a claim")

def test_other():
    pass
'''


@pytest.mark.slow
def test_what_was_tried_is_counted_and_what_failed_or_was_skipped_did_not_come_out_well(tmp_path):
    (tmp_path / "test_small.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    fault\n    attack\n    truth\n    control\n")
    for words in ([], ["-n", "2"]):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "tests.suites", *words, f"--rootdir={tmp_path}", "-c", str(tmp_path / "pytest.ini"), str(tmp_path)],
            cwd=REPO, capture_output=True, text=True,
        )  # fmt: skip
        told = [line for line in done.stdout.splitlines() if " tried, " in line]
        assert told == ["faults: 1 tried, 0 survived", "attacks: 4 tried, 3 contained (controls: 1 of 1)", "claims: 1 tried, 1 checked"]
