"""What hbench costs beside a bare loop: one model call a question, jail on, a fork a question, every rollout durable.

`python tests/bench/overhead.py` starts a local server that answers after 50 ms, and prints one line a figure. Everything
is counted from process start to exit, over the whole process tree. `--quick` leaves out the 10,000 questions.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from tests.bench.measure import measure  # noqa: E402

SPEC = """
plan: evaluation
name: overhead
family: {family}
splits: {{evaluation: {count}}}
harness: harnesses/plain.py
solver: {{name: mock, weights: mock, as_of: 2026-11-01}}
machine: {{in_flight: {in_flight}, sandbox: {sandbox}, models: {{mock: {{base_url: "{url}", max_in_flight: {in_flight}}}}}}}
"""
FAMILIES = {
    "trivial": "{kind: toy, ask: copy}",
    "reasoning gym": "{kind: reasoning_gym, name: chain_sum}",
}
HARNESS = "def run(question, tools):\n    return tools.lm(question)\n"


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--quick", action="store_true")
    words.add_argument("--repeats", type=int, default=3)
    chosen = words.parse_args()
    with server() as url:
        floor = best(chosen.repeats, lambda: measure([sys.executable, str(HERE / "bare_loop.py"), url, "1000", "64"], watch_memory=False))
        print(f"bare aiohttp loop, 1,000 calls, 64 in flight: {floor.wall_s:.2f} s, {floor.cpu_s:.2f} CPU-ms a call")
        for family in FAMILIES:
            for in_flight in (64, 256):
                cost = best(chosen.repeats, lambda: run(url, 1000, in_flight, family, watch_memory=False))
                print(
                    f"hbench, {family}, 1,000 questions, {in_flight} in flight: {cost.wall_s:.2f} s "
                    f"({cost.wall_s / floor.wall_s:.2f} x the bare loop at 64), {cost.cpu_s:.2f} CPU-ms a question",
                    flush=True,
                )
        print(f"killed at the last answer: {durable(url)}", flush=True)
        if not chosen.quick:
            memory(url)


def best(repeats, once):
    """The run that took the least wall time: what else the machine does can only add."""
    return min((once() for _ in range(repeats)), key=lambda cost: cost.wall_s)


def run(url, count, in_flight, family, sandbox="auto", watch_memory=True):
    """Cost of a whole `hbench run` in a fresh folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = prepared(Path(name), url, count, in_flight, family, sandbox)
        command = [sys.executable, "-m", "hbench", "run", "specs/overhead.yaml", "-q"]
        return measure(command, folder, watch_memory)


def prepared(folder, url, count, in_flight, family, sandbox="auto"):
    (folder / "specs/harnesses").mkdir(parents=True)
    (folder / "specs/harnesses/plain.py").write_text(HARNESS)
    values = {"family": FAMILIES[family], "count": count, "in_flight": in_flight, "url": url, "sandbox": sandbox}
    (folder / "specs/overhead.yaml").write_text(SPEC.format(**values))
    return folder


def durable(url):
    """Kills everything when the server has answered for the last time and its rollout is written; counts what is there."""
    with tempfile.TemporaryDirectory() as name:
        folder = prepared(Path(name), url, 1000, 64, "trivial")
        before = asked(url)
        command = [sys.executable, "-m", "hbench", "run", "specs/overhead.yaml", "-q"]
        process = subprocess.Popen(command, cwd=folder, start_new_session=True)
        while len(rows(folder)) < 1000 and process.poll() is None:
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        found = rows(folder)
        whole = sum(bool(row["rollouts"]) and bool(row["events"]) for row in found)
        spent = asked(url) - before
        subprocess.run(command, cwd=folder, check=True)
        return f"{whole} of 1000 rollouts with their events on disk; {asked(url) - before - spent} calls asked again"


def rows(folder):
    """The whole lines of the running step's rows, or of the finished step's."""
    found = []
    for file in folder.glob("results/steps/*/*/rows.jsonl"):
        found += [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1] if b'"rollouts"' in line]
    return found


def memory(url):
    small = run(url, 1000, 64, "trivial")
    large = run(url, 10_000, 64, "trivial")
    print(
        f"peak memory of the tree: {small.peak_mb:.0f} MB at 1,000 questions, {large.peak_mb:.0f} MB at 10,000 "
        f"(allowed {1.1 * small.peak_mb + 30:.0f}); {large.cpu_s / 10:.2f} CPU-ms a question at 10,000"
    )


def asked(url) -> int:
    return json.load(urllib.request.urlopen(url.removesuffix("/v1") + "/stats"))["requests"]


@contextmanager
def server():
    process = subprocess.Popen([sys.executable, str(HERE / "mock_server.py")], stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()


if __name__ == "__main__":
    main()
