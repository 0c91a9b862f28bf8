"""Runs a spec again and again on a disk that is full a little later each time.

Started by test_full_disk.py in a mount namespace of its own: `python -m tests.runtime.full_disk WORLD LIMIT MORE`, where LIMIT
is a limit of tmpfs (`size`, in bytes, or `nr_inodes`) that is raised by MORE after each try. Once all steps are there and only
the database waits for room, it is raised by much. Each try is a fork, so that what hbench imports is imported once.
What it prints is JSON: each try's limit, exit code and messages, and the rows that are there in the end.
"""

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

from hbench import cli
from tests.store.made import contents

FIRST = {"size": 1 << 14, "nr_inodes": 4}
MUCH = {"size": 1 << 21, "nr_inodes": 8}
MOST = 300  # tries; by then something is wrong


def attempt(words: list[str], said: Path) -> int:
    """The exit code of `hbench WORDS` in a fork of this process; its messages are in `said`."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with said.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.argv, code = ["hbench", *words], 0
    try:
        cli.main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 99
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def tries(what: str, more: int) -> list[tuple[int, int, str]]:
    """(limit, exit code, messages) of each try, until one leaves nothing to do."""
    made, limit = [], FIRST[what]
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"{what}={limit}", "full", "results"], check=True)
    while len(made) < MOST:
        code = attempt(["run", "specs/toy.yaml", "-q"], Path("said"))
        said = Path("said").read_text(errors="replace")
        made.append((limit, code, said))
        if code == 0 and "not up to date" not in said:
            break
        limit += more if code else MUCH[what]
        subprocess.run(["mount", "-o", f"remount,{what}={limit}", "results"], check=True)
    return made


def main(world: str, what: str, more: str) -> None:
    os.chdir(world)
    Path("results").mkdir()
    made = tries(what, int(more))
    without = ("runs", "run_steps", "spend")  # tells of tries
    rows = {name: some for name, some in contents(Path("results")).items() if name not in without}
    print(json.dumps({"tries": made, "rows": rows}, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
