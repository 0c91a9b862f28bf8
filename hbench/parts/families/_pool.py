"""Draws entries of one reasoning-gym pool in a process of its own.

Of its own, because eight families walk through sets of strings (their questions differ with PYTHONHASHSEED, fixed here
to 0), two use the global random generators, one prints, some import matplotlib or sympy. The library is trusted, so
there is no jail.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
from ast import literal_eval
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hbench.core.digest import Json, derive_seed
from hbench.core.failure import StepError
from hbench.parts.families import _library

PACKAGE_ROOT = Path(__file__).resolve().parents[3]
_HANDED_ON = ("PATH", "LD_LIBRARY_PATH", "LANG", "TMPDIR", "OPENBLAS_CORETYPE")  # no keys
_SET_BY_HAND = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def entries(name: str, settings: Json, seed: int, start: int, stop: int) -> list[Json]:
    """Entries `start` to `stop` of the pool with this seed, fewer where it ends.

    Plain JSON: question, answer, metadata, gold_score; equal arguments give equal entries in any process. gold_score:
    what the library's own answer scores, read back from JSON; None where it has none. Raises StepError when the
    library cannot make them.
    """
    request = json.dumps({"name": name, "settings": settings, "seed": seed, "start": start, "stop": stop})
    command = [sys.executable, "-P", "-m", "hbench.parts.families._pool"]
    path = os.pathsep.join(filter(None, [str(PACKAGE_ROOT), os.environ.get("PYTHONPATH")]))
    around = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
    around |= {**_SET_BY_HAND, "PYTHONPATH": path}
    # codeio runs programs of its data set to make a question, and some of them write files where they stand.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command, input=request, capture_output=True, text=True, encoding="utf-8", env=around, cwd=folder
        )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        made = f"reasoning-gym {library_version()} cannot make questions {start} to {stop} of {name}"
        raise StepError(f"{made}: {reason}")
    return [json.loads(line) for line in done.stdout.splitlines()]


@cache
def library_version() -> str:
    return version("reasoning-gym")


def plain(value: Any) -> Json:
    """`value` as JSON: tuples as lists, keys as strings, numpy scalars as numbers, anything else as its text.

    Loses nothing that scoring needs, but for the tuples that `revive` puts back (a test compares scores).
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else str(value)
    if hasattr(value, "item") and not isinstance(value, str):
        return plain(value.item())
    return str(value)


def revive(entry: Json) -> Json:
    """The entry as the scorer wants it: the two grid families compare tuples with the stored output."""
    metadata = entry["metadata"]
    if metadata.get("source_dataset") not in ("arc_agi", "rearc"):
        return entry
    return {**entry, "metadata": {**metadata, "output": tuple(tuple(row) for row in metadata["output"])}}


def _draw(request: Json) -> list[Json]:
    name = request["name"]
    pool = _library.dataset(name, request["settings"], request["seed"], _library.pool_size(name))
    stop = min(request["stop"], _library.pool_size(name))
    return [_entry(pool, _make(pool, i)) for i in range(request["start"], stop)]


def _make(pool: Any, index: int) -> Any:
    random.seed(derive_seed("reasoning_gym", pool.seed, index))  # list_functions draws from the global generator
    return pool[index]


def _entry(pool: Any, made: Any) -> Json:
    metadata = {key: value for key, value in made["metadata"].items() if key != "difficulty"}  # the settings again
    entry = {"question": made["question"], "answer": made["answer"], "metadata": plain(metadata)}
    return {**entry, "gold_score": _gold_score(pool, json.loads(json.dumps(entry)))}


def _gold_score(pool: Any, entry: Json) -> float | None:
    """What the library's own answer scores; 0.0 where it cannot be right whatever the scorer says."""
    if entry["answer"] is None:
        return None
    if gold_was_rounded(entry):
        return 0.0
    return float(pool.score_answer(entry["answer"], revive(entry)))


def gold_was_rounded(entry: Json) -> bool:
    """Whether a list of numbers to sort is answered by other numbers than it asks about (shared case 115).

    The scorer would not see it: it lets every number be off by 1.
    """
    if entry["metadata"].get("source_dataset") != "number_sorting":
        return False
    asked, answered = entry["metadata"]["original_numbers"], literal_eval(entry["answer"])
    return sorted(map(float, asked)) != sorted(map(float, answered))


def _main() -> None:
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what families print must not get between the lines
    request = json.loads(sys.stdin.read())
    for entry in _draw(request):
        lines.write(json.dumps(entry) + "\n")
    lines.close()


if __name__ == "__main__":
    _main()
