"""The published family lists: a seeded draw from the families that can serve, written to specs/families/.

    python -m hbench.parts.families._lists write FOLDER     the lists, from _capacity.csv
    python -m hbench.parts.families._lists measure          _capacity.csv anew, some minutes

The papers name only the hard five. All other lists are hbench's own draw.
"""

import csv
import sys
import textwrap
import time
from collections.abc import Collection
from pathlib import Path

from hbench.core.digest import derive_seed
from hbench.parts.families import _library
from hbench.parts.families.reasoning_gym import ReasoningGym

CAPACITY = Path(__file__).with_name("_capacity.csv")
SEED = "hbench family lists, 1"
HARD = ("ab", "knight_swap", "letter_jumble", "modulo_grid", "sokoban")
TRAINING = ("rl5", "sft21")
WANTED = 25 + 75  # dev and held-out questions
AT_MOST_S = 20.0  # to generate them
WALKED_AT_MOST = 10 * WANTED

TITLES = {
    "rl5": "Families of proposer RL",
    "sft21": "Families of proposer SFT",
    "unseen26": "Unseen families: the paper's hard five and unseen21",
    "unseen21": "Unseen families without the hard five",
    "common15": "Unseen families of the sequential comparison, drawn from unseen21",
    "c1_19": "Unseen families of the analysis of failed edits (appendix C.1)",
    "c2_24_canonical": "Unseen families of single-step against multistep RL, canonical wording (appendix C.2)",
    "c2_24_varied": "Unseen families of single-step against multistep RL, varied wording (appendix C.2)",
    "table10_5": "Another five unseen families (Table 10): not in unseen26",
    "table18_4": "Unseen families of Table 18 (a helper attached to the tool loop), drawn from unseen21",
}


def draw_lists() -> dict[str, list[str]]:
    """Name of a list -> its families, sorted. Equal on every machine: drawn by digest, not by a random generator."""
    able = eligible()
    rl = _draw("rl5", 5, able)
    sft = _draw("sft21", 21, able - {*rl})
    unseen = able - {*rl, *sft}
    lists = {"rl5": rl, "sft21": sft, "unseen21": _draw("unseen21", 21, unseen)}
    lists["unseen26"] = sorted({*HARD, *lists["unseen21"]})
    lists["common15"] = _draw("common15", 15, lists["unseen21"])
    lists["table10_5"] = _draw("table10_5", 5, unseen - {*lists["unseen21"]})
    lists["table18_4"] = _draw("table18_4", 4, lists["unseen21"])
    alone = {"c1_19": 19, "c2_24_canonical": 24, "c2_24_varied": 24}
    return lists | {name: _draw(name, count, unseen) for name, count in alone.items()}


def eligible() -> set[str]:
    """Families that fill 25 + 75 questions at the library's defaults in reasonable time, the hard five apart."""
    lines = [line for line in CAPACITY.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = csv.DictReader(lines)
    able = {r["family"] for r in rows if int(r["distinct"]) >= WANTED and float(r["seconds"]) <= AT_MOST_S}
    return able - {*HARD}


def _draw(label: str, count: int, pool: Collection[str]) -> list[str]:
    return sorted(sorted(pool, key=lambda family: derive_seed(SEED, label, family))[:count])


def as_yaml(name: str, families: Collection[str]) -> str:
    """The spec fragment of one list."""
    names = textwrap.indent(textwrap.fill(", ".join(families), 108), "    ")
    varied = "family: {format: varied}\n" if name.endswith("_varied") else ""
    return (
        "# yaml-language-server: $schema=../schema/fragment.json\n"
        f"# {TITLES[name]}. Our own seeded draw, made by\n"
        f"# python -m hbench.parts.families._lists; use it as sweep: {{family.name: ${{let.{name}}}}}\n"
        "extends: [families/reasoning_gym]\n"
        f"{varied}let:\n  {name}: [\n{names},\n  ]\n"
    )


def write(folder: Path) -> None:
    for name, families in draw_lists().items():
        (folder / f"rg_{name}.yaml").write_text(as_yaml(name, families), encoding="utf-8")


def measure() -> None:
    """Writes _capacity.csv below the comments it starts with."""
    comments = [line for line in CAPACITY.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    rows = [_capacity(name) for name in _library.modules() if name != "composite"]
    CAPACITY.write_text("\n".join([*comments, "family,distinct,walked,seconds", *rows]) + "\n", encoding="utf-8")


def _capacity(name: str) -> str:
    family = ReasoningGym(kind="reasoning_gym", name=name)
    started, found, walked = time.monotonic(), set(), 0
    while len(found) < WANTED and walked < WALKED_AT_MOST:
        drawn = family.questions(walked, min(walked + WANTED, WALKED_AT_MOST), seed=0)
        for question in drawn:
            walked += len(found) < WANTED
            if len(found) < WANTED:
                found.add(question.content_id)
        if not drawn:
            break
    return f"{name},{len(found)},{walked},{time.monotonic() - started:.1f}"


if __name__ == "__main__":
    measure() if sys.argv[1:] == ["measure"] else write(Path(sys.argv[2]))
