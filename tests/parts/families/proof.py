"""Run as a program, in one process: entries of many families, and whether scoring survives their way through JSON.

    python -m tests.parts.families.proof START STOP [backwards]

Prints one JSON object: family -> {"entries": […], "lost": [[answer, score before, score after], …]}. Meant for
PYTHONHASHSEED=0, as the pool's own process has it.
"""

import json
import os
import sys

from hbench.parts.families import _library, _pool

MALFORMED = ("", "abc", "1", "[1,2]", "{", '{"a":1}', "1 2 3", "²", "\x00", "\ud800")
COMPOSITE = {"datasets": [{"name": "chain_sum"}, {"name": "rearc", "weight": 2.0}]}
SEED = 20_261


def settings_of(name: str) -> dict:
    return COMPOSITE if name == "composite" else {}


def prove(name: str, start: int, stop: int) -> dict:
    pool = _library.dataset(name, settings_of(name), SEED, _library.pool_size(name))
    made = [_pool._make(pool, i) for i in range(start, stop)]
    entries = [_pool._entry(pool, entry) for entry in made]
    golds = [entry["answer"] for entry in made if entry["answer"]]
    lost = []
    for raw, entry in zip(made, entries, strict=True):
        read = _pool.revive(json.loads(json.dumps(entry)))
        scores = [(answer, score(pool, answer, raw), score(pool, answer, read)) for answer in {*golds, *MALFORMED}]
        lost += [[answer[:40], before, after] for answer, before, after in scores if before != after]
    return {"entries": entries, "lost": lost}


def score(pool, answer, entry):
    try:
        return float(pool.score_answer(answer, entry))
    except Exception as trouble:
        return type(trouble).__name__


def main(start: str, stop: str, *order: str) -> None:
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    names = sorted(_library.modules(), reverse=bool(order))
    json.dump({name: prove(name, int(start), int(stop)) for name in names}, lines)
    lines.close()
    assert "matplotlib" not in sys.modules, "drawing and grading must not need it"


if __name__ == "__main__":
    main(*sys.argv[1:])
