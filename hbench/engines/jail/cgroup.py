"""What all jails of one driver may take of the machine together: a control group of theirs, where the driver may make one.

A process's own limits hold wherever it runs (`inside/confine.py`); this one holds their sum, and what folders in memory take.
When the sum is reached, the kernel ends a process, of those inside: commands of workspaces first.
"""

import atexit
import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

MOUNT = Path("/sys/fs/cgroup")
MEMORY_SHARE = 0.75  # of what the driver may use
MOST_PROCESSES = 8192
_PREFIX = "hbench-"
_SMALLEST = 256 << 20  # bytes; with less no zygote would be sure to live


@dataclass(frozen=True)
class Cgroup:
    """folders: one with version 2, one a controller with version 1. memory_mb: the most that all in it have together."""

    version: int
    folders: tuple[Path, ...]
    memory_mb: int

    def entered(self, words: Sequence[str]) -> list[str]:
        """`words` as a command that runs in the group, as the same process, with all that it starts."""
        enter = "".join(f"echo $$ > {shlex.quote(f'{folder}/cgroup.procs')} && " for folder in self.folders)
        return ["/bin/sh", "-c", enter + 'exec "$@"', "sh", *words]

    @cached_property
    def _account(self) -> int:
        """A descriptor for good: it is read before every question."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        return os.open(self.folders[0] / name, os.O_RDONLY | os.O_CLOEXEC)

    def deaths(self) -> int:
        """How many processes in it the kernel has ended for want of memory."""
        told = os.pread(self._account, 4096, 0).partition(b"oom_kill ")[2]
        return int(told.split(maxsplit=1)[0]) if told else 0

    def remove(self) -> None:
        """Takes the group away; does nothing while a process is in it."""
        for folder in self.folders:
            with suppress(OSError):
                folder.rmdir()


def entered(words: Sequence[str]) -> list[str]:
    """`words`, run in this process's group; as they are where there is none."""
    group = own()
    if group and not all(folder.exists() for folder in group.folders):  # removed by somebody who does not see this process
        _of_process.cache_clear()
        group = own()
    return group.entered(words) if group else list(words)


def deaths() -> int:
    """How many jailed processes the kernel has ended for want of memory, as far as it says."""
    group = own()
    with suppress(OSError):
        return group.deaths() if group else 0
    return 0


def own() -> Cgroup | None:
    """This process's group for all of its jails, made when first asked for and taken away at its end."""
    return _of_process(os.getpid())


@cache
def _of_process(pid: int) -> Cgroup | None:
    group = made(f"{_PREFIX}{pid}")
    if group:
        atexit.register(lambda: group.remove() if os.getpid() == pid else None)  # not by a fork of this process
    return group


def made(name: str, mount: Path = MOUNT, own_groups: str = "/proc/self/cgroup") -> Cgroup | None:
    """A new group of that name beside or below the driver's own; None where it cannot be made, limited and entered.

    mount: where control groups are mounted. own_groups: the file that tells the driver's own, a line a hierarchy.
    """
    try:
        paths = dict(line.split(":", 2)[1:] for line in Path(own_groups).read_text().splitlines())
    except (OSError, ValueError):
        return None
    for version, parents in _places(mount, paths):
        group = _try(version, parents, name)
        if group:
            return group
    return None


def _places(mount: Path, paths: dict[str, str]) -> Iterator[tuple[int, tuple[Path, ...]]]:
    """Where a group may be made. A group of version 2 with processes of its own has no limits to give to one below it."""
    below = {names: path.lstrip("/") for names, path in paths.items()}
    if (mount / "cgroup.controllers").exists():
        home = mount / below.get("", "")
        yield from ((2, (place,)) for place in (home.parent, home) if place.is_relative_to(mount))
    elif {"memory", "pids"} <= set(below):
        yield 1, tuple(mount / sort / below[sort] for sort in ("memory", "pids"))


def _try(version: int, parents: tuple[Path, ...], name: str) -> Cgroup | None:
    for parent in parents:
        _sweep(parent)
    memory = int(MEMORY_SHARE * _memory(parents[0], version))
    group = Cgroup(version, tuple(parent / name for parent in parents), memory >> 20)
    try:
        if memory < _SMALLEST:
            raise OSError("too little memory for a share of it")
        for folder in group.folders:
            folder.mkdir(exist_ok=True)
        limit = "memory.max" if version == 2 else "memory.limit_in_bytes"
        (group.folders[0] / limit).write_text(str(memory))
        (group.folders[-1] / "pids.max").write_text(str(MOST_PROCESSES))
        subprocess.run(group.entered(["/bin/sh", "-c", ":"]), check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        group.remove()
        return None
    return group


def _memory(parent: Path, version: int) -> int:
    """Bytes that the driver may use: the machine's, or less by the limit of a group that it is in."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for folder in (parent, *parent.parents):
        with suppress(OSError, ValueError):
            found.append(int((folder / ("memory.max" if version == 2 else "memory.limit_in_bytes")).read_text()))
    return min(found)


def _sweep(parent: Path) -> None:
    """Takes away the groups of drivers that were killed."""
    with suppress(OSError):
        for folder in parent.glob(f"{_PREFIX}*"):
            pid = folder.name.removeprefix(_PREFIX)
            if pid.isdigit() and not Path(f"/proc/{pid}").exists():
                folder.rmdir()
