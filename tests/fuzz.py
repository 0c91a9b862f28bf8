"""`make fuzz`: the tests that draw their examples, with new draws each round, for as many minutes as are given.

A round is one seed for every file; a failing one is told with its seed, stays in .hypothesis/ for the next try, and belongs
into its test as an `@example` once it is understood.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator

from tests.where import REPO

# Edits, answers and messages of jails; specs; the store and runs in any order; harnesses, verdicts and calls that models write;
# workbooks and molecules that students leave.
FILES = (
    "tests/test_any_words.py",
    "tests/store/test_any_order.py",
    "tests/runtime/test_any_order.py",
    "tests/spec/test_fuzz.py",
    "tests/spec/test_reader_properties.py",
    "tests/parts/edits/test_search_replace_properties.py",
    "tests/parts/edits/test_python_block.py",
    "tests/parts/calls/test_calls.py",
    "tests/store/test_rows.py",
    "tests/core",
    "tests/parts/domains/test_any_workbook.py",
    "tests/parts/domains/test_any_molecule.py",
)
PYTEST = (sys.executable, "-m", "pytest", "-q", "-m", "not long", "--hypothesis-show-statistics")
COUNTED = re.compile(r"(\d+) passing")


def rounds(minutes: float) -> Iterator[tuple[int, str, int, bool]]:
    """(seed, file, examples tried, all well) until the time is over; the file under way is ended."""
    ends, seed = time.monotonic() + 60 * minutes, int(time.time())
    while True:
        for file in FILES:
            if time.monotonic() > ends:
                return
            words = [*PYTEST, f"--hypothesis-seed={seed}", file]
            done = subprocess.run(words, cwd=REPO, capture_output=True, text=True, env={**os.environ, "HBENCH_THOROUGH": "1"})
            tried = sum(map(int, COUNTED.findall(done.stdout)))
            if done.returncode:
                print(done.stdout[-6000:], done.stderr[-2000:], sep="\n")
            yield seed, file, tried, done.returncode == 0
        seed += 1


def main(minutes: str) -> int:
    """Tells each failure, and at the end how much was tried."""
    began, total, bad = time.monotonic(), 0, []
    for seed, file, tried, well in rounds(float(minutes)):
        total += tried
        bad += [] if well else [f"{file} with --hypothesis-seed={seed}"]
        print(f"{(time.monotonic() - began) / 60:6.1f} min  {total:9} examples  {file}{'' if well else '  FAILED'}", flush=True)
    print(f"fuzz: {total} examples tried, {len(bad)} failures" + "".join(f"\n  {each}" for each in bad))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
