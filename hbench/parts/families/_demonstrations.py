"""The hand-written replies of the laptop-size study, put together from edits and sentences.

    python -m hbench.parts.families._demonstrations write FOLDER     specs/replies/mini_*.jsonl

A demonstration is one sentence, and one block that puts one to three lines before `# code` of specs/harnesses/mini.py.
The line stays, so that an edited harness can be edited again in the same way.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template

from hbench.core.digest import Json
from hbench.parts.families import _edits_practice, _edits_reasoning_gym
from hbench.parts.families.practice import SKILLS

SEARCH = "    # code"
SENTENCES = (
    "Solve it in code: {clause}.",
    "No model is needed to {clause}.",
    "Let Python {clause}.",
    "The solver is unreliable, so {clause} in Python.",
    "Compute it directly: {clause}.",
    "The program itself can {clause}.",
)
# A demonstration has one of each.
NAMES = ({"x": "x", "w": "words", "t": "word"}, {"x": "values", "w": "parts", "t": "text"})
REPLIES = 12  # of each family
# Of all demonstrations the best on the six tuning families: exact on products and decimal_chain_sum, 0.33 in the mean (16
# questions each). Next: the product of numbers(question), 0.23, and the reversed items(question), 0.17.
BEST_PASTED = "answer = calc(question)"


def demonstrations() -> dict[str, list[str]]:
    """Seen family -> at most REPLIES replies, all different."""
    clauses = {name: skill.clause for name, skill in SKILLS.items()} | _edits_reasoning_gym.CLAUSES
    edits = _edits_practice.EDITS | _edits_reasoning_gym.SEEN
    return {family: _replies(distinct(edits[family]), clauses[family]) for family in edits}


def distinct(edits: Sequence[str]) -> list[str]:
    """The edits with each choice of names, the first of all edits before the second of any."""
    named = [Template(edit).substitute(names) for names in NAMES for edit in edits]
    return list(dict.fromkeys(named))


def reply(sentence: str, code: str) -> str:
    """A whole response: the sentence, and the block that inserts `code`."""
    lines = "\n".join(f"    {line}" for line in code.split("\n"))
    return f"{sentence}\n<<<<<<< SEARCH\n{SEARCH}\n=======\n{lines}\n{SEARCH}\n>>>>>>> REPLACE"


def _replies(edits: Sequence[str], clause: str) -> list[str]:
    rounds = [divmod(i, len(edits)) for i in range(min(REPLIES, len(edits) * len(SENTENCES)))]
    pairs = [(edits[at], SENTENCES[(at + turn) % len(SENTENCES)]) for turn, at in rounds]
    return [reply(sentence.format(clause=clause), edit) for edit, sentence in pairs]


def write(folder: Path) -> None:
    oracles = _edits_reasoning_gym.ORACLES
    _write(folder / "mini_demonstrations.jsonl", (_row(f, said) for f, said in demonstrations().items()))
    _write(folder / "mini_oracle.jsonl", (_row(f, reply("Compute it in Python.", code)) for f, code in oracles.items()))
    pasted = reply("Solve it in code: work out an expression.", BEST_PASTED)
    _write(folder / "mini_paste.jsonl", [{"reply": pasted, "label": "hand-written"}])


def _row(family: str, said: Json) -> Json:
    return {"match": f"(?m)^Family: {family}$", "reply": said, "label": "hand-written"}


def _write(file: Path, rows: Iterable[Json]) -> None:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[2]))
