"""Where the sessions of one zygote have their folders: in memory, mounted by each for itself, or on disk."""

import os
import subprocess
import tempfile
import time

from . import kernel
from .tree import wait_in_parent

PYTHON = "/python"
TOOLS = "/usr/bin:/bin:/run/current-system/sw/bin"
_NAMES = ("workspace", "bank", "calls", "commands", "tmp")


class Ground:
    """folder: on disk, "" for mounts. python: an environment with what the domain names. proc: commands have a /proc."""

    def __init__(self, folder: str, python: str, proc: bool, janitor: int = -1, janitors_pid: int = 0):
        self.folder, self.python, self.proc = folder, python, proc
        self._janitor, self._pid = janitor, janitors_pid

    @property
    def folders(self) -> list[str]:
        """What sessions write beneath on disk."""
        return [self.folder] if self.folder else []

    def place(self, job: int) -> "Place":
        """The folders of session `job`; not made yet."""
        return Place(f"{self.folder}/{job}" if self.folder else "", self.python)

    def clear(self, job: int) -> None:
        """Session `job` has ended: its folders go."""
        if self.folder:
            os.write(self._janitor, b"%d\n" % job)

    def leave(self) -> None:
        """All sessions have ended. Returns once nothing is left on disk."""
        if self.folder:
            os.close(self._janitor)
            os.waitpid(self._pid, 0)


class Place:
    """The folders of one session."""

    def __init__(self, root: str, python: str):
        self.root, self.python = root, python
        self.workspace, self.bank, self.calls, self.commands, self.tmp = (f"{root}/{name}" for name in _NAMES)

    def make(self, disk_mb: int) -> None:
        """Mounts them, in a mount namespace of the session's own, or makes them on disk."""
        if self.root:
            for name in ("", *_NAMES):
                os.mkdir(f"{self.root}/{name}")
            return
        for path, size in ((self.workspace, disk_mb), (self.tmp, disk_mb), (self.calls, 8), (self.bank, disk_mb), (self.commands, 1)):
            kernel.mount_folder(path, size)

    def close_bank(self) -> None:
        """Nobody writes there any more. (On disk it is the command's own rules that forbid it.)"""
        if not self.root:
            kernel.make_read_only(self.bank)
            kernel.make_read_only(self.commands)


def in_memory(setting: dict) -> Ground:
    """A ground whose sessions mount their folders. Raises OSError."""
    kernel.mount_folder(PYTHON, 1)
    _lay_python(PYTHON, setting)
    kernel.make_read_only(PYTHON)
    return Ground("", PYTHON, _can_mount_processes())


def on_disk(setting: dict) -> Ground:
    """A ground in a new folder below setting["temporary"], which goes when this process does, however that ends."""
    folder = tempfile.mkdtemp(prefix="hbench-workspaces-", dir=setting["temporary"])
    os.chmod(folder, 0o755)
    _lay_python(f"{folder}/python", setting)
    return Ground(folder, f"{folder}/python", False, *_start_janitor(folder))


def _lay_python(folder: str, setting: dict) -> None:
    """An environment of Python's own form (venv) that holds links to `packages`, and nothing else."""
    site = f"{folder}/{setting['site']}"
    os.makedirs(f"{folder}/bin")
    os.makedirs(site)
    os.symlink(setting["interpreter"], f"{folder}/bin/python3")
    os.symlink("python3", f"{folder}/bin/python")
    with open(f"{folder}/pyvenv.cfg", "w") as file:
        file.write(f"home = {os.path.dirname(setting['interpreter'])}\ninclude-system-site-packages = false\n")
    for path in setting["packages"]:
        os.symlink(path, f"{site}/{os.path.basename(path)}")


def _can_mount_processes() -> bool:
    pid = os.fork()
    if pid == 0:
        try:
            kernel.leave("mount", "pid")
            wait_in_parent()
            kernel.mount_processes("/proc")
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def _start_janitor(folder: str) -> tuple[int, int]:
    """(pipe, pid) of a process that removes the folders it is told of, and at the end of the pipe `folder` itself.

    It outlives this process, and is not confined with it: that is what it is for.
    """
    told, tell = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid:
        os.close(told)
        return tell, pid
    try:
        os.setsid()
        os.dup2(told, 0)
        os.closerange(1, 1 << 20)
        with os.fdopen(0) as names:
            for name in names:
                _remove(f"{folder}/{int(name)}")
        _remove(folder)
    finally:
        os._exit(0)


def _remove(folder: str) -> None:
    """Until it is gone: what ends only just now may still be writing there. (The tools cope with any depth of folders.)"""
    words = ["sh", "-c", 'chmod -R u+rwX "$1"; rm -rf "$1"', "sh", folder]
    for _ in range(200):
        subprocess.run(words, env={"PATH": TOOLS}, stderr=subprocess.DEVNULL)
        if not os.path.lexists(folder):
            return
        time.sleep(0.05)
