"""What a plan of 100,000 steps costs: to lay it down, and to find all of its steps finished.

`python tests/bench/plans.py` prints one line a figure; `--share 0.1` does so for a tenth. File-system calls are counted by
strace, where it is installed.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from tests.bench.big_folder import Size, plans, write_spec, write_steps_alone  # noqa: E402
from tests.bench.measure import measure  # noqa: E402

WHOLE = Size(points=546, questions=50)  # 99,919 steps
SCAN = """
import gc, sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from hbench.runtime.foresee import foresee
from hbench.store.artifacts import Store
from tests.bench.big_folder import plans
gc.disable()
made, store = plans(Path(".")), Store("results")
wall, cpu = time.perf_counter(), time.process_time()
states = [state for plan in made for state in foresee(plan, store).values()]
print(time.perf_counter() - wall, time.process_time() - cpu, len(states), states.count("cached"))
"""
READS = "openat,open,read,pread64,fstat,newfstatat,stat,lstat,statx,lseek,access,faccessat2,getdents64,readlink"


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--share", type=float, default=1.0)
    chosen = words.parse_args()
    size = replace(WHOLE, points=max(1, round(WHOLE.points * chosen.share)))
    with tempfile.TemporaryDirectory() as name, chdir(name):
        folder = Path(name)
        write_spec(folder, size)
        planned("nothing there")
        print(f"made {write_steps_alone(folder, plans(folder)):,} finished steps", flush=True)
        planned("all finished")
        scanned(folder)


def planned(what: str) -> None:
    cost = measure([sys.executable, "-m", "hbench", "plan", "big"], watch_memory=False)
    print(f"hbench plan, {what}: {cost.wall_s:.1f} s, {cost.cpu_s:.1f} CPU-s (asked: under 10 s)", flush=True)


def scanned(folder: Path) -> None:
    """The scan alone, in a process that has its plans; then the same under strace, which is slow, for a count."""
    code = [sys.executable, "-c", SCAN.format(root=str(HERE.parent.parent))]
    wall, cpu, steps, cached = subprocess.run(code, capture_output=True, text=True, check=True).stdout.split()
    print(f"resume scan of {steps} steps, {cached} found: {float(wall):.1f} s, {float(cpu):.1f} CPU-s (asked: under 10 s)", flush=True)
    if shutil.which("strace") is None:
        print("file-system calls: not counted, strace is not installed")
        return
    log = folder / "strace.log"
    subprocess.run(["strace", "-f", "-y", "-o", str(log), "-e", f"trace={READS}", *code], capture_output=True, check=True)
    calls = sum(1 for line in log.open(errors="replace") if re.search(r"results/steps/", line))
    print(f"file-system calls on steps/: {calls / int(steps):.2f} a step, closing apart (asked: at most 2)")


if __name__ == "__main__":
    main()
