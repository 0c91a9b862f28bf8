"""A study whose truth is known: every harness answers by coins of its own, one that a question and the harness decide.

A proposer that only changes the salt of the coins knows nothing: what it makes is as good as what it was given. One harness
answers a quarter of the questions beyond its coins.
"""

from pathlib import Path
from typing import Any

from tests.thorough import often
from tests.world import MISSES, PROSE, World, make_world, write_replies

FAIR = '''
import hashlib

SALT = "0"


def run(question, tools):
    number = question.split("Q")[-2]
    heads = hashlib.sha256((SALT + number).encode()).digest()[0] % 2
    return number if heads else "tails"
'''
BETTER = FAIR.replace("number if heads", "number if heads or int(number) % 2")  # a quarter of the questions more
FAMILIES = [f"coins_{i}" for i in range(often(6, 20))]
SPEC = f"""
plan: adaptation
name: coins-${{family.name}}
family: {{kind: toy, name: coins_0, ask: copy}}
sweep: {{family.name: [{", ".join(FAMILIES)}]}}
splits: {{feedback: 2, scoring: 8, evaluation: 16}}
harness: harnesses/fair.py
solver: {{kind: recorded, file: replies/solver.jsonl}}
proposer: {{kind: recorded, file: replies/salts.jsonl, prompt: proposer/search_replace, sampling: {{temperature: 1.0}}}}
selection: {{kind: best_candidate}}
evaluate_all: true
arms:
  seed: {{rounds: 0}}
  better: {{rounds: 0, harness: harnesses/better.py}}
  guesses: {{rounds: 1, proposals: 8}}
  mixed: {{rounds: 1, proposals: 4, proposer: {{file: replies/mixed.jsonl}}}}
  chain: {{rounds: 2, proposals: 2, proposer: {{file: replies/mixed.jsonl}}}}
"""


def edit(line: str, by: str) -> str:
    return f"Try another.\n<<<<<<< SEARCH\n{line}\n=======\n{by}\n>>>>>>> REPLACE\n"


def salted(salt: int) -> str:
    return edit('SALT = "0"', f'SALT = "{salt}"')


RAISES = edit('    number = question.split("Q")[-2]', '    number = question.split("Z")[-2]')  # runs to no end


def run_coins(folder: Path) -> World:
    """The study, run as a user would run it."""
    world = make_world(folder, SPEC)
    (folder / "specs/harnesses/fair.py").write_text(FAIR)
    (folder / "specs/harnesses/better.py").write_text(BETTER)
    write_replies(folder / "specs/replies/salts.jsonl", [{"reply": [salted(i) for i in range(1, 1001)]}])
    mixed = [RAISES, MISSES, PROSE, edit('SALT = "0"', 'SALT = "0"'), *(salted(i) for i in range(1, 5))]
    write_replies(folder / "specs/replies/mixed.jsonl", [{"reply": mixed}])
    world.hbench("run", "specs/toy.yaml", "-q", timeout=600)
    return world


def truth(source: str, text: str) -> float:
    """What a harness of the study scores on a question, by running its program right here."""
    program: dict[str, Any] = {}
    exec(source, program)
    return float(program["run"](text, None) == text.split("Q")[-2])
