"""Which files a zygote may see: Python, its C libraries, and what its purpose asks for."""

import glob
import mimetypes
import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hbench.core.failure import StepError
from hbench.engines.jail.recipe import Purpose

_SYSTEM = ("/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/nix/store")
_TOOLS = ("/usr/bin", "/bin", "/etc/alternatives", "/usr/share/awk", "/usr/share/misc", "/usr/share/file")
_PERL = ("/usr/share/perl*", "/etc/perl")  # the library that many system tools are written with
_SHELL_PATH = "/usr/bin:/bin:/run/current-system/sw/bin"


def interpreter() -> str:
    """The Python that jails run."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


@cache
def bash() -> str:
    """The machine's bash. Raises StepError without one."""
    found = shutil.which("bash", path=_SHELL_PATH)
    if found is None:
        raise StepError(f"a workspace needs bash, which is in none of {_SHELL_PATH}")
    return os.path.realpath(found)


def readable_paths(purpose: Purpose) -> list[str]:
    """Files and folders that a zygote may read, and nothing else is visible to it: Python and its C libraries."""
    paths = {interpreter(), sysconfig.get_path("stdlib"), *(p for p in _SYSTEM), *_real_libraries()}
    paths |= {path for path in mimetypes.knownfiles if os.path.isfile(path)}  # else to import mimetypes fails with Landlock
    if sys.base_prefix != "/usr":
        paths.add(os.path.join(sys.base_prefix, "lib"))
    if purpose == "grader":
        paths |= {*site_packages(), *_own_parts(), str(Path(__file__).parents[2])}
    if purpose == "workspace":
        paths |= {*(p for p in _TOOLS if not os.path.islink(p)), *(p for way in _PERL for p in glob.glob(way))}
        paths.add(os.path.dirname(bash()))
    return sorted(path for path in paths if path and os.path.exists(path))


def hidden_paths(readable: Sequence[str]) -> list[str]:
    """Folders below `readable` where Python keeps what was installed: a workspace sees none of it but its packages."""
    folders = {sysconfig.get_path("stdlib"), *(found for path in readable for found in glob.glob(f"{path}/python3*"))}
    places = (f"{folder}/{name}" for folder in folders for name in ("site-packages", "dist-packages"))
    return sorted({os.path.realpath(place) for place in places if os.path.isdir(place)})


def without(path: str, hidden: Sequence[str]) -> list[str]:
    """`path`, or the parts of it that leave the `hidden` folders out; as it is where it lies inside of one."""
    if path in hidden:
        return []
    if not os.path.isdir(path) or not any(place.startswith(path + "/") for place in hidden):
        return [path]
    return [part for name in sorted(os.listdir(path)) for part in without(f"{path}/{name}", hidden)]


def around(places: Sequence[str]) -> list[str]:
    """Every folder above the places."""
    return sorted({str(folder) for place in places for folder in Path(place).parents})


def lies_in(place: str, folders: Sequence[str]) -> bool:
    """Whether it lies below one of them."""
    return any(place.startswith(folder + "/") for folder in folders)


def _real_libraries() -> list[str]:
    return [place for place in ("/lib", "/lib64", "/lib32") if os.path.isdir(place) and not os.path.islink(place)]


def site_packages() -> list[str]:
    """Where this process's own libraries lie."""
    return [p for p in sys.path if p.rstrip("/").endswith(("site-packages", "dist-packages")) and os.path.isdir(p)]


def _own_parts() -> list[str]:
    places = [str(Path.cwd() / "parts"), *os.environ.get("HBENCH_PARTS", "").split(os.pathsep)]
    return [os.path.abspath(place) for place in places if place and os.path.isdir(place)]
