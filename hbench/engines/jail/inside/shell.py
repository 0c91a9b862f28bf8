"""One command of a workspace: a fresh bash, and the end of all that it started when it ends."""

import errno
import os
import signal

from . import kernel, landlock, seccomp
from .confine import DEVICES
from .ground import TOOLS, Place
from .tree import count_apart, exit_code, wait_in_parent

OPEN_FILES = 256
PROCESSES = 64
_TROUBLE = 3  # where a child tells why no shell came of it; closed when one does


def start(run: dict, place: Place, jail, folder: str) -> tuple[int, int, int]:
    """(pid, pipe of its output, pipe of its trouble) of a child that becomes the command `run`. Raises OSError.

    folder: of its calls, "" without any. Ending the pid (see `stop`) ends all; it ends when the shell does, with its code.
    """
    output, out = os.pipe2(os.O_CLOEXEC)
    trouble, told = os.pipe2(os.O_CLOEXEC)
    me = os.getpid()
    try:
        pid = os.fork()
    except OSError:
        os.close(output), os.close(trouble)
        raise
    finally:
        if os.getpid() == me:
            os.close(out), os.close(told)
    if pid:
        _own_group(pid)
        os.set_blocking(output, False)
        return pid, output, trouble
    try:
        signal.set_wakeup_fd(-1)
        _own_group(0)
        _only(out, told)
        _follow(run, place, jail, folder, me)
    except BaseException as failed:
        os.write(_TROUBLE, f"{type(failed).__name__}: {failed}".encode("utf-8", "replace")[:1000])
    finally:
        os._exit(71)


def stop(pid: int, jail) -> None:
    """Ends the command."""
    try:
        os.killpg(pid, signal.SIGKILL) if jail.own_tree else os.kill(pid, signal.SIGTERM)
    except OSError:
        pass  # gone


def _follow(run: dict, place: Place, jail, folder: str, session: int) -> None:
    """Through the generations to the shell. With a process tree of its own its first process is what ends them all."""
    if jail.own_tree:
        kernel.leave("mount", "pid")
        wait_in_parent()
        _lay_processes(jail)
        _expect_death()
        if jail.user is not None:
            kernel.become(jail.user)
        count_apart()
        kernel.drop_capabilities()
        kernel.die_with_parent()
        wait_in_parent()
        os.setsid()
    else:
        _wait_for_group(session, jail)
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


def _wait_for_group(session: int, jail) -> None:
    """Returns in a child with a process group that it cannot leave. The parent ends the group with the shell, with
    itself, or when its own parent goes."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    kernel.die_with_parent(signal.SIGTERM)
    if os.getppid() != session:
        os._exit(71)
    kernel.adopt_orphans()
    shell = os.fork()
    if shell == 0:
        _own_group(0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        return
    _own_group(shell)
    os.closerange(0, 64)
    signal.signal(signal.SIGTERM, lambda *_: _end_group(shell, jail, 128 + signal.SIGTERM))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    while True:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid
        if ended == shell:
            break
        os.waitpid(ended, 0)
    _end_group(shell, jail, None)


def _end_group(shell: int, jail, code: int | None) -> None:
    """Ends this process too, with the shell's exit code where `code` is None."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    os.killpg(shell, signal.SIGKILL)  # the shell has not been waited for, so the number is still its own
    found = exit_code(os.waitpid(shell, 0)[1])
    try:
        while jail.sandbox != "none":  # where nothing is refused some may have left the group
            os.wait()
    except ChildProcessError:
        pass
    os._exit(found if code is None else code)


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


def _only(out: int, told: int) -> None:
    """Nothing to read, one pipe for both outputs, the trouble's pipe that no program inherits, and nothing else."""
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.dup2(out, 1), os.dup2(out, 2)
    os.dup2(told, _TROUBLE, inheritable=False)
    os.closerange(_TROUBLE + 1, 1 << 20)
