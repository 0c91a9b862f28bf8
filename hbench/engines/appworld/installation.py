"""Where AppWorld's environment is, and what its Python is to read."""

import json
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from hbench.core.failure import HbenchError

FOLDER = ".venv-appworld"
_REPOSITORY = Path(__file__).resolve().parents[3]
_ASKED = """
import json, os, sys, sysconfig
paths = sysconfig.get_paths()
print(json.dumps({
    "interpreter": os.path.realpath(sys.executable),
    "path": [paths["stdlib"], *[place for place in sys.path if place.endswith("lib-dynload")]],
    "site": [paths["purelib"], paths["platlib"]],
    "library": os.path.join(sys.base_prefix, "lib"),
}))
"""


@dataclass(frozen=True)
class Installation:
    """interpreter: behind all links. path: what it imports from, the environment's packages last. readable: all it reads."""

    interpreter: str
    path: tuple[str, ...]
    readable: tuple[str, ...]


def folder() -> Path | None:
    """The environment: $HBENCH_APPWORLD, else .venv-appworld here or in the repository; None where there is none."""
    given = os.environ.get("HBENCH_APPWORLD")
    places = [Path(given)] if given else [Path.cwd() / FOLDER, _REPOSITORY / FOLDER]
    return next((place.resolve() for place in places if (place / "bin" / "python").exists()), None)


def version() -> str:
    """Of the package appworld in its environment; `absent` without one. Starts nothing."""
    found = folder()
    sites = [str(site) for site in found.glob("lib/python*/site-packages")] if found else []
    return next((one.version for one in distributions(path=sites) if one.name == "appworld"), "absent") if sites else "absent"


def installation() -> Installation:
    """What it takes to start the engine. Raises HbenchError, saying what to do, where it is not (wholly) installed."""
    found = folder()
    if found is None or version() == "absent":
        raise HbenchError(
            "AppWorld's environment is not there: run `make appworld`, or name one in $HBENCH_APPWORLD. "
            f"Looked for {FOLDER} here and in {_REPOSITORY}"
        )
    return _installation(found)


@cache
def _installation(found: Path) -> Installation:
    try:
        words = [found / "bin" / "python", "-I", "-c", _ASKED]
        told = json.loads(subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as trouble:
        raise HbenchError(f"the Python of {found} does not run: {trouble}") from trouble
    if not any(Path(site, "appworld", "apps", "supervisor").is_dir() for site in told["site"]):
        raise HbenchError(f"AppWorld in {found} is not unpacked: run `make appworld`, or `appworld install` there")
    path = tuple(place for place in dict.fromkeys([*told["path"], *told["site"]]) if os.path.isdir(place))
    return Installation(told["interpreter"], path, (told["interpreter"], *path, told["library"]))
