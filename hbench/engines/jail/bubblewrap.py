"""The command line of bubblewrap: what a zygote in namespaces sees, and may do until it gives that up."""

import os
from pathlib import Path

from hbench.engines.jail.recipe import Purpose, Recipe
from hbench.engines.jail.visible import hidden_paths, lies_in

INSIDE = Path(__file__).parent / "inside"
_DEVICE_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "shm": "/tmp"}
_WORKSPACE_FOLDERS = ("workspace", "bank", "calls", "commands", "python", "proc")  # where a session mounts its own


def bubblewrap(recipe: Recipe, purpose: Purpose, readable: list[str]) -> list[str]:
    """No network, own processes, own IPC, a read-only root in memory that holds only `readable` and a few devices."""
    words = [recipe.bwrap, "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--unshare-user", "--uid", "65534", "--gid", "65534"] if recipe.own_users else []
    words += ["--die-with-parent", "--new-session", "--hostname", "jail", "--cap-drop", "ALL"]
    for capability in _capabilities(recipe, purpose):
        words += ["--cap-add", capability]
    for place in _links(purpose):
        words += ["--symlink", os.readlink(place), place]
    home = str(Path.cwd()) if purpose == "grader" else "/"  # a user's own parts/ are looked up from there
    folders = [f"/{name}/x" for name in _WORKSPACE_FOLDERS] if purpose == "workspace" else []
    for folder in parents_of([*readable, "/jail/inside", f"{home}/x", "/tmp/x", "/dev/x", *folders]):
        words += ["--perms", "0755", "--dir", folder]  # made by bwrap itself they would be root's alone
    hidden = hidden_paths(readable) if purpose == "workspace" else []
    for place in readable:
        if not lies_in(place, hidden):
            words += ["--ro-bind", place, place]
    for place in hidden:
        words += ["--perms", "0755", "--tmpfs", place]
    for place in readable:
        if lies_in(place, hidden):
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


def _devices(purpose: Purpose) -> tuple[str, ...]:
    return ("/dev/null", "/dev/urandom", *(("/dev/zero", "/dev/full", "/dev/random") if purpose == "workspace" else ()))


def parents_of(places: list[str]) -> list[str]:
    """Every folder above the places, outermost first, without the links and folders that are laid down whole."""
    found = {str(folder) for place in places for folder in Path(place).parents if not os.path.islink(folder)}
    return sorted(folder for folder in found - {"/"} if not any(Path(folder).is_relative_to(place) for place in places))


def _capabilities(recipe: Recipe, purpose: Purpose) -> list[str]:
    """What the zygote needs until it gives it up: to become an ordinary user, to make trees for its children."""
    become = [] if recipe.own_users else ["CAP_SETUID", "CAP_SETGID"]
    trees = {"python": ["CAP_SYS_ADMIN"], "workspace": ["CAP_SYS_ADMIN", "CAP_KILL"]}.get(purpose, [])
    return [*become, "CAP_SETPCAP", *trees]
