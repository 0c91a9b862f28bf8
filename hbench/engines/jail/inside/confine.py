"""What a zygote, and then each of its children, gives up before it runs anything it was sent."""

import os
import sys
from resource import RLIMIT_AS, RLIMIT_CPU, RLIMIT_NOFILE, getrlimit, setrlimit

from . import kernel, landlock, seccomp, syscalls

USERS = (1_912_000_000, 65534)  # an unprivileged user nobody else has, else `nobody`; only root can become one
OPEN_FILES = 64
PROCESSES = 32
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")  # what commands may open
_LIMITED = (RLIMIT_AS, RLIMIT_CPU, RLIMIT_NOFILE)


class Jail:
    """What is the same for all children of a zygote.

    groups: end whole process groups, because a child may leave others behind. user: what a child becomes, or None.
    own_tree: each child gets a process tree and a folder of its own, and so may fork and write. shell: children run programs.
    refused: names of system calls that they may not make all the same. readable, listed: as of the zygote.
    ground: see ground.py.
    """

    def __init__(self, sandbox: str, own_tree: bool = False, user: int | None = None, shell: bool = False, refused=()):
        self.sandbox, self.own_tree, self.user = sandbox, own_tree, user
        self.groups = own_tree or shell or sandbox == "none"
        self.base_bytes = kernel.address_space()
        self.most = [sys.maxsize if hard < 0 else hard for _, hard in map(getrlimit, _LIMITED)]
        self.filter = None if sandbox == "none" else seccomp.build(own_tree or shell, shell, refused)
        self.refused, self.readable, self.listed, self.ground = refused, [], [], None

    def promises(self) -> dict:
        found = {"own_tree": self.own_tree, "user": os.getuid() if self.user is None else self.user}
        return {**found, "refused": list(self.refused), "proc": self.ground is not None and self.ground.proc}

    def limit(self, memory_mb: int, cpu_s: float, open_files: int = OPEN_FILES) -> None:
        """The rlimits of a child. They hold in every sandbox, `none` too."""
        wanted = (self.base_bytes + (memory_mb << 20), max(1, -int(-cpu_s // 1)), open_files)
        for number, most, value in zip(_LIMITED, self.most, wanted):
            setrlimit(number, (min(value, most), min(value, most)))

    def close(self) -> None:
        """The last door: after this a child can only compute, read what its zygote can, and use its own descriptors."""
        if self.sandbox != "none":
            kernel.die_with_parent()
            seccomp.install(self.filter)


def zygote(setting: dict, child) -> Jail:
    """Confines this zygote, whose children are of the sort `child`, and says how each of them is to be confined."""
    sandbox, readable = setting["sandbox"], setting["readable"]
    kernel.limit("CORE", 0)  # its children have it from here
    if sandbox == "none":
        kernel.adopt_orphans()
        jail = Jail("none", shell=child.SHELL)
        jail.ground = child.settle(setting, False) if child.SHELL else None
        return jail
    own_tree = sandbox == "namespaces" and child.OWN_TREE and _can_make_trees()
    user = _unprivileged_user(readable)
    kernel.no_new_privileges()
    refused = _refused(user) if child.SHELL and not own_tree else ()
    if not own_tree:  # else the zygote makes namespaces for its children, and each gives up all of this by itself
        if user is not None:
            kernel.become(user)
        kernel.drop_capabilities()
        user = None
    ground = child.settle(setting, own_tree) if child.SHELL else None
    if sandbox == "landlock":
        own = [*ground.folders, *DEVICES] if ground else ["/dev/null"]
        landlock.restrict([*readable, "/dev/null", "/dev/urandom"], own, setting["listed"], run=child.SHELL)
    if not (own_tree or child.SHELL):
        kernel.limit("FSIZE", 0)
    kernel.hide_memory()
    jail = Jail(sandbox, own_tree, user, child.SHELL, refused)
    jail.readable, jail.listed, jail.ground = readable, setting["listed"], ground
    if not _works_in_a_child(lambda: seccomp.install(jail.filter)):
        raise OSError("this kernel takes no seccomp filter")
    return jail


def _refused(user: int | None) -> list[str]:
    """What a command may not do where its processes and files are not apart from those of the user who runs hbench."""
    signals = syscalls.SIGNALS if landlock.version() < 6 else []
    cuts = ["truncate"] if landlock.version() < 3 else []
    return [*syscalls.GROUPS, *signals, *cuts, *(syscalls.FILE_MODES if user is None else [])]


def _unprivileged_user(readable: list[str]) -> int | None:
    """Whom root should become: a user who can still read the library. None: stay who we are."""
    if os.getuid() != 0:
        return None
    needed = [path for path in [os.__file__, *readable, *sys.path] if os.path.exists(path)]
    return next((user for user in USERS if _works_in_a_child(lambda: _read_as(user, needed))), None)


def _read_as(user: int, needed: list[str]) -> None:
    kernel.become(user)
    closed = [path for path in needed if not os.access(path, os.R_OK)]
    if closed:
        raise PermissionError(f"{closed[0]} is not for everyone")


def _can_make_trees() -> bool:
    """Whether a child of this zygote can get a process tree and a folder of its own."""

    def make() -> None:
        kernel.leave("mount", "pid", "ipc")
        kernel.mount_folder("/tmp", 1)
        if os.getuid() != 0 or _unprivileged_user([]) is None:
            kernel.leave("user")

    return _works_in_a_child(make)


def _works_in_a_child(step) -> bool:
    """Whether `step`, which cannot be undone, goes well: tried in a child."""
    pid = os.fork()
    if pid == 0:
        try:
            step()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0
