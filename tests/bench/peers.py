"""What hbench costs beside other evaluation harnesses that ask the same server the same questions.

`python tests/bench/peers.py` starts the server of overhead.py and prints a line a harness: wall time and CPU of the whole
process tree from start to exit, and how many times hbench's that is. A peer is run where it is installed: in this
environment, or in one of its own under the folder $HBENCH_PEERS, named as the peer (inspect_ai, lm_eval, dspy).
None of the peers runs code in a jail; hbench does here, and forks for each question: it is run without, too.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from tests.bench import overhead  # noqa: E402
from tests.bench.measure import Cost, measure  # noqa: E402

PEERS = {"inspect_ai": "ask_inspect.py", "lm_eval": "ask_lm_eval.py", "dspy": "ask_dspy.py"}
VERSION = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--count", type=int, default=1000)
    words.add_argument("--in-flight", type=int, default=64)
    words.add_argument("--repeats", type=int, default=1)
    chosen = words.parse_args()
    count, in_flight = chosen.count, chosen.in_flight
    with overhead.server() as url:
        print(f"{count} questions, {in_flight} in flight", flush=True)
        ours, bare = (own_cost(chosen, url, sandbox) for sandbox in ("auto", "none"))
        print(f"hbench: {told(ours, count)}\nhbench, sandbox none: {told(bare, count)}", flush=True)
        for name, script in PEERS.items():
            python, version = installed(name)
            if version is None:
                print(f"{name}: not installed here, nor in {python.parent.parent}", flush=True)
                continue
            found = overhead.best(chosen.repeats, lambda: asked(python, script, url, count, in_flight))
            failed = ", but it FAILED" if found.code else ""
            ratio = f"{found.wall_s / ours.wall_s:.1f} x the wall time of hbench, {found.cpu_s / ours.cpu_s:.1f} x its CPU"
            ratio += f" ({found.cpu_s / bare.cpu_s:.1f} x without a jail)"
            print(f"{name} {version}: {told(found, count)}: {ratio}{failed}", flush=True)


def own_cost(chosen: argparse.Namespace, url: str, sandbox: str) -> Cost:
    """The cost of a whole `hbench run` in this sandbox."""
    once = lambda: overhead.run(url, chosen.count, chosen.in_flight, "trivial", sandbox, watch_memory=False)  # noqa: E731
    return overhead.best(chosen.repeats, once)


def told(cost: Cost, count: int) -> str:
    return f"{cost.wall_s:.2f} s, {cost.cpu_s / count * 1000:.2f} CPU-ms a question"


def installed(name: str) -> tuple[Path, str | None]:
    """The Python that is to run the peer, and the version that it finds; None where it is not installed."""
    own = Path(os.environ.get("HBENCH_PEERS", "peers")).absolute() / name / "bin/python"
    python = own if own.exists() else Path(sys.executable)
    done = subprocess.run([python, "-c", VERSION, name], capture_output=True, text=True)
    return (own, None) if done.returncode else (python, done.stdout.strip())


def asked(python: Path, script: str, url: str, count: int, in_flight: int) -> Cost:
    """Cost of a peer's whole run in an empty folder. The script fails where an answer is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        return measure([str(python), str(HERE / script), url, str(count), str(in_flight)], folder, watch_memory=False)


if __name__ == "__main__":
    main()
