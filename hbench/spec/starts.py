"""Starting specs: what `hbench new` writes, commented, to be changed. They are ordinary specs, specs/new/<plan>.yaml."""

import re
from pathlib import Path

from hbench.core.failure import HbenchError
from hbench.core.places import find_file
from hbench.spec.lineage import find_spec
from hbench.spec.plans import PLANS
from hbench.spec.problems import did_you_mean
from hbench.spec.source import shown

FOLDER = Path("specs")
SCHEMA = "schema/experiment.json"  # under specs/, as the first line of a spec names it
_NAME = re.compile(r"[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*")


def write_start(plan: str, name: str | None = None) -> Path:
    """Writes specs/<name>.yaml, a spec of that plan that runs as it is. name: default my_<plan>; may hold folders.

    Raises HbenchError for another plan, and where a spec of that name is there: nothing is written over.
    """
    if plan not in PLANS:
        hint = did_you_mean(plan, PLANS) or f"there are: {', '.join(PLANS)}"
        raise HbenchError(f"there is no plan {plan!r} ({hint})")
    file = _free(name or f"my_{plan}")
    start = find_file("specs", f"new/{plan}.yaml")
    text = start.read_text(encoding="utf-8").replace(f"=../{SCHEMA}", f"={'../' * (len(file.parents) - 2)}{SCHEMA}", 1)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("x", encoding="utf-8") as out:
        out.write(text)
    return file


def _free(name: str) -> Path:
    short = name.removeprefix("specs/").removesuffix(".yaml")
    if not _NAME.fullmatch(short):
        raise HbenchError(f"{name!r} is no name for a spec: letters, digits, _ and -, with / between folders under specs/")
    file = FOLDER / f"{short}.yaml"
    if file.exists():
        raise HbenchError(f"{file} is there already: give another name, or remove it")
    if known := find_spec(short):
        told = f"{short} is a spec that comes with hbench ({shown(known)}), and yours would hide it"
        raise HbenchError(f"{told}: give another name")
    return file
