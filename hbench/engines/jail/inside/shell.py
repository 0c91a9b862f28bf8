"""One command of a workspace: a fresh bash, and the end of all that it started when it ends."""

import errno
import os
import signal

from . import kernel, landlock, seccomp
from .confine import DEVICES
from .ground import TOOLS, Place
from .tree import exit_code, settle, wait_in_parent

OPEN_FILES = 256
PROCESSES = 64
_TROUBLE = 3  # where a child tells why no shell came of it; closed when one does
_CODE = 4  # where the parent of a shell leaves its exit code, where it ends itself with the shell's group


def start(run: dict, place: Place, jail, folder: str) -> tuple[int, int, int, int]:
    """(pid, pipes of its output, its trouble and its exit code) of a child that becomes the command `run`. Raises OSError.

    folder: of its calls, "" without any. The child leads a process group: to end that ends all, see `end`.
    """
    pipes = [os.pipe2(os.O_CLOEXEC) for _ in range(3)]
    ours, theirs = zip(*pipes, strict=True)
    me = os.getpid()
    try:
        pid = os.fork()
    except OSError:
        for descriptor in (*ours, *theirs):
            os.close(descriptor)
        raise
    if pid:
        _own_group(pid)
        for descriptor in theirs:
            os.close(descriptor)
        os.set_blocking(ours[0], False), os.set_blocking(ours[2], False)
        return pid, *ours
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _own_group(0)
        _only(*theirs)
        _follow(run, place, jail, folder, me)
    except BaseException as failed:
        os.write(_TROUBLE, f"{type(failed).__name__}: {failed}".encode("utf-8", "replace")[:1000])
    finally:
        os._exit(71)


def end(pid: int) -> None:
    """Ends the command whose first process is `pid`, which has not been waited for."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass  # gone


def _follow(run: dict, place: Place, jail, folder: str, session: int) -> None:
    """Through the generations to the shell. With a process tree of its own its first process is what ends them all."""
    if jail.own_tree:
        kernel.leave("mount", "pid")
        wait_in_parent()
        _lay_processes(jail)
        _expect_death()
        settle(jail.user)
    else:
        _wait_for_group(session)
    os.chdir(place.workspace)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and a program would inherit that
        signal.signal(number, signal.SIG_DFL)
    _give_up(run, place, jail)
    words = ["bash", "-c", run["command"]]
    try:
        os.execve(run["bash"], words, environment(place, folder))
    except (OSError, ValueError) as refused:  # longer than the kernel takes, or with a NUL: what a shell says of that
        if isinstance(refused, OSError) and refused.errno != errno.E2BIG:
            raise
        os.write(1, f"bash: the command cannot be run: {refused}\n".encode())
        os._exit(126)


def _lay_processes(jail) -> None:
    """A /proc of this tree, or nothing in its place."""
    if jail.ground.proc:
        kernel.mount_processes("/proc")
    else:
        kernel.mount_folder("/proc", 1)
        kernel.make_read_only("/proc")


def _expect_death() -> None:
    """When the machine runs out of memory, the kernel is to end commands before sessions."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


def _wait_for_group(session: int) -> None:
    """Returns in a child that cannot leave this process's group. The parent ends the group, and so itself, with the shell
    (whose code it leaves in a pipe) or with the session; and where it dies before, the session ends the group."""
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
    kernel.die_with_parent(signal.SIGTERM)
    if os.getppid() != session:
        os._exit(71)
    shell = os.fork()
    if shell == 0:
        kernel.die_with_parent()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        return
    os.closerange(0, _CODE)
    os.write(_CODE, bytes([exit_code(os.waitpid(shell, 0)[1])]))
    os.killpg(0, signal.SIGKILL)


def _give_up(run: dict, place: Place, jail) -> None:
    jail.limit(run["memory_mb"], run["cpu_s"], OPEN_FILES)
    kernel.limit("FSIZE", run["disk_mb"] << 20)
    if jail.own_tree:
        kernel.limit("NPROC", PROCESSES)
    if jail.sandbox == "landlock":
        writable = [place.workspace, place.tmp, place.calls, *DEVICES]
        landlock.restrict([*jail.readable, place.python, place.bank, place.commands], writable, jail.listed, run=True)
    if jail.sandbox != "none":
        seccomp.install(jail.filter)


def environment(place: Place, folder: str) -> dict[str, str]:
    """The whole environment of a command. CALLS: where served programs are reached, if any are."""
    found = {
        "PATH": f"{place.commands}:{place.python}/bin:{TOOLS}",
        "HOME": place.workspace,
        "PWD": place.workspace,
        "BANK": place.bank,
        "TMPDIR": place.tmp,
        "USER": "student",
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",  # what was printed before a time limit is not lost
        "PYTHONDONTWRITEBYTECODE": "1",
        **{name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")},
    }
    return {**found, "CALLS": folder} if folder else found


def _own_group(pid: int) -> None:
    try:
        os.setpgid(pid, pid)
    except OSError:
        pass  # it did so itself, or is gone


def _only(out: int, trouble: int, code: int) -> None:
    """Nothing to read, one pipe for both outputs, two pipes that no program inherits, and nothing else."""
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.dup2(out, 1), os.dup2(out, 2)
    os.dup2(trouble, _TROUBLE, inheritable=False)  # a session holds 0 to 3, so none of the three is there already
    os.dup2(code, _CODE, inheritable=False)
    os.closerange(_CODE + 1, 1 << 20)
