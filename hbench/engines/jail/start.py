"""How a zygote is started: the command, and its environment."""

import json
import os
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hbench.engines.jail.bubblewrap import INSIDE, bubblewrap
from hbench.engines.jail.recipe import Purpose, Recipe, recipes
from hbench.engines.jail.visible import around, hidden_paths, interpreter, lies_in, readable_paths, site_packages, without

__all__ = ["Purpose", "Recipe", "command", "covered", "environment", "home_of", "readable_paths", "recipes", "wrapped"]
_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def command(recipe: Recipe, purpose: Purpose, packages: Sequence[str] = ()) -> list[str]:
    """What to exec, with the control socket as standard input. See `environment` for the rest.

    packages: files and folders of what a workspace's Python can import.
    """
    readable, home, listed = [*readable_paths(purpose), *packages], home_of(recipe), []
    if purpose == "workspace" and recipe.sandbox == "landlock":  # whose rules cannot take away what another gives
        hidden = hidden_paths(readable)
        listed = [place for place in around(hidden) if lies_in(place, readable) or place in readable]
        readable = [*(part for path in readable for part in without(path, hidden)), f"{home}/inside/call.py"]
    setting = {"purpose": purpose, "sandbox": recipe.sandbox, "readable": readable, "listed": listed}
    setting |= {"path": _import_path(purpose), "environment": sorted(set(environment(purpose)) - {"PYTHONHASHSEED", "LD_BIND_NOW"})}
    if purpose == "workspace":
        site = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
        setting |= {"interpreter": interpreter(), "site": site, "packages": list(packages)}
        setting["temporary"] = tempfile.gettempdir()
    boot = f"import sys; sys.path.insert(0, {home!r}); from inside.zygote import main; main()"
    python = [interpreter(), "-s", "-S", "-P", "-B", "-X", "utf8", "-c", boot, json.dumps(setting)]
    return wrapped(recipe, purpose, readable, python)


def covered(recipe: Recipe, purpose: Purpose, packages: Sequence[str]) -> str:
    """Why a workspace of this recipe would not see what it needs; "" where it does. Its /tmp is its own."""
    if purpose != "workspace" or recipe.sandbox != "namespaces":
        return ""
    found = next((path for path in (interpreter(), *packages) if path.startswith("/tmp/")), "")
    return f"{found} lies under /tmp, which a workspace has for itself: install hbench in another folder" if found else ""


def wrapped(recipe: Recipe, purpose: Purpose, readable: list[str], words: list[str]) -> list[str]:
    """`words`, run where only `readable` is to be seen; as they are where there are no namespaces."""
    return words if recipe.sandbox != "namespaces" else [*bubblewrap(recipe, purpose, readable), *words]


def home_of(recipe: Recipe) -> str:
    """The folder above `inside`, as the jail sees it."""
    return "/jail" if recipe.sandbox == "namespaces" else str(INSIDE.parent)


def environment(purpose: Purpose) -> dict[str, str]:
    """The whole environment of a zygote: nothing of the driver's but where a user's own parts lie, and that
    pydantic has no plugins to look for (grader only).

    LD_BIND_NOW: else every child would look up by itself what the zygote never called.
    """
    fixed = {"PYTHONHASHSEED": "0", "LD_BIND_NOW": "1"}
    if purpose != "grader":
        return fixed
    told = {k: v for k, v in os.environ.items() if k in ("HBENCH_PARTS", "PYDANTIC_DISABLE_PLUGINS")}
    return {**fixed, **_ONE_THREAD, **told}


def _import_path(purpose: Purpose) -> list[str]:
    stdlib = sysconfig.get_path("stdlib")
    path = [stdlib, os.path.join(sysconfig.get_path("platstdlib"), "lib-dynload")]
    dynamic = next((p for p in sys.path if p.endswith("lib-dynload")), path[1])
    extra = [*site_packages(), str(Path(__file__).parents[3])] if purpose == "grader" else []
    return list(dict.fromkeys([stdlib, dynamic, *extra]))
