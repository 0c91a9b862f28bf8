"""What a zygote, and then each of its children, gives up before it runs anything it was sent."""

import os
import sys

from . import kernel, landlock, seccomp

USERS = (1_912_000_000, 65534)  # an unprivileged user nobody else has, else `nobody`; only root can become one
OPEN_FILES = 64
PROCESSES = 32


class Jail:
    """What is the same for all children of a zygote.

    groups: end whole process groups, because a child may leave others behind. user: what a child becomes, or None.
    own_tree: each child gets a process tree and a folder of its own, and so may fork and write.
    """

    def __init__(self, sandbox: str, own_tree: bool = False, user: int | None = None):
        self.sandbox, self.own_tree, self.user = sandbox, own_tree, user
        self.groups = own_tree or sandbox == "none"
        self.base_bytes = kernel.address_space()
        self.filter = None if sandbox == "none" else seccomp.build(processes=own_tree)

    def promises(self) -> dict:
        return {"own_tree": self.own_tree, "user": os.getuid() if self.user is None else self.user}

    def limit(self, memory_mb: int, cpu_s: float) -> None:
        """The rlimits of a child. They hold in every sandbox, `none` too."""
        kernel.limit("AS", self.base_bytes + (memory_mb << 20))
        kernel.limit("CPU", max(1, -int(-cpu_s // 1)))
        kernel.limit("CORE", 0)
        kernel.limit("NOFILE", OPEN_FILES)

    def close(self) -> None:
        """The last door: after this a child can only compute, read what its zygote can, and use its own descriptors."""
        if self.sandbox != "none":
            kernel.limit("FSIZE", 0)
            kernel.die_with_parent()
            seccomp.install(self.filter)


def zygote(sandbox: str, readable: list[str], child) -> Jail:
    """Confines this zygote, whose children are of the sort `child`, and says how each of them is to be confined."""
    if sandbox == "none":
        kernel.adopt_orphans()
        return Jail("none")
    own_tree = sandbox == "namespaces" and child.OWN_TREE and _can_make_trees()
    user = _unprivileged_user(readable)
    kernel.no_new_privileges()
    if not own_tree:  # else the zygote makes namespaces for its children, and each gives up all of this by itself
        if user is not None:
            kernel.become(user)
        kernel.drop_capabilities()
        user = None
    if sandbox == "landlock":
        landlock.restrict([*readable, "/dev/null", "/dev/urandom"])
    kernel.hide_memory()
    jail = Jail(sandbox, own_tree, user)
    if not _works_in_a_child(lambda: seccomp.install(jail.filter)):
        raise OSError("this kernel takes no seccomp filter")
    return jail


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
