"""A small working folder of its own: the toy family, a recorded solver and a recorded proposer. For tests of logic."""

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HARNESS = '''
def run(question, tools):
    reply = tools.lm(question, temperature=1.0)
    return reply.strip()
'''

SPEC = """
plan: adaptation
name: toy
family: {kind: toy, name: toy, ask: sum}
splits: {feedback: 4, scoring: 4, evaluation: 6}
harness: harnesses/plain.py
solver: {kind: recorded, file: replies/solver.jsonl}
proposer: {kind: recorded, file: replies/proposer.jsonl, prompt: proposer/search_replace, sampling: {temperature: 1.0}}
rounds: 2
proposals: 3
evaluate_all: true
arms:
  seed: {rounds: 0}
  sequential: {rounds: 3, proposals: 1}
  independent: {rounds: 1, proposals: 3}
"""

# What the proposer may say, drawn by seed: an edit that solves the family, one that fails, one that does not apply, prose.
SOLVES = """Add in code.
<<<<<<< SEARCH
    reply = tools.lm(question, temperature=1.0)
    return reply.strip()
=======
    import re
    tools.lm(question)
    return str(sum(int(n) for n in re.findall(r"\\d+", question)))
>>>>>>> REPLACE
"""
ASKS_TWICE = """Ask once more.
<<<<<<< SEARCH
    reply = tools.lm(question, temperature=1.0)
=======
    reply = tools.lm(question, temperature=1.0)
    reply = tools.lm(question, temperature=1.0)
>>>>>>> REPLACE
"""
MISSES = """<<<<<<< SEARCH
    this line is nowhere
=======
    pass
>>>>>>> REPLACE
"""
PROSE = "I would leave the program as it is."


@dataclass(frozen=True)
class World:
    """folder: the working folder. Commands run in it as a user would run them."""

    folder: Path

    def hbench(self, *words: str, check: bool = True, timeout: float = 120) -> subprocess.CompletedProcess:
        """`hbench` with these words, in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "hbench", *words], cwd=self.folder, capture_output=True, text=True, timeout=timeout
        )
        if check and done.returncode:
            raise AssertionError(f"hbench {' '.join(words)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def start(self, *words: str) -> subprocess.Popen:
        """The same, not waited for, in a session of its own. It hears Ctrl-C, also where the tests run in the background."""
        return subprocess.Popen(
            [sys.executable, "-m", "hbench", *words],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
        )

    def sql(self, query: str, results: str = "results") -> list[dict]:
        return json.loads(self.hbench("sql", query, "--format", "json", "--results", results).stdout)


def make_world(folder: Path, spec: str = SPEC, latency_ms: float = 0) -> World:
    """specs/toy.yaml and what it names, under `folder`. latency_ms: how long a recorded reply waits, at most twice."""
    (folder / "specs/harnesses").mkdir(parents=True)
    (folder / "specs/replies").mkdir()
    (folder / "specs/harnesses/plain.py").write_text(HARNESS)
    machine = f"machine: {{models: {{recorded: {{latency_ms: [0, {2 * latency_ms}]}}}}}}\n" if latency_ms else ""
    (folder / "specs/toy.yaml").write_text(spec + machine)
    solver = [{"match": r"What is (\d+)", "reply": [str(n) for n in range(0, 2_000_000, 250_001)]}, {"reply": "0"}]
    write_replies(folder / "specs/replies/solver.jsonl", solver)
    write_replies(folder / "specs/replies/proposer.jsonl", [{"reply": [ASKS_TWICE, MISSES, PROSE, SOLVES]}])
    return World(folder)


def write_replies(file: Path, rows: list[dict]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
