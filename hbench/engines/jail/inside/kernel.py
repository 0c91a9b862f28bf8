"""The few kernel calls that Python has no name for, and rlimits."""

import ctypes
import mmap
import os
import resource
import struct
from resource import getrlimit, setrlimit

LIBC = ctypes.CDLL(None, use_errno=True)
_fork = ctypes.PyDLL(None).fork  # with the GIL held
prctl = LIBC.prctl
NEW_NAMESPACE = {"mount": 0x00020000, "ipc": 0x08000000, "user": 0x10000000, "pid": 0x20000000}
_PDEATHSIG, _DUMPABLE, _CAPBSET_DROP, _SUBREAPER, _NO_NEW_PRIVS = 1, 4, 24, 36, 38
_CAPSET = {"x86_64": 126, "aarch64": 91}
_LIMITS = {name.removeprefix("RLIMIT_"): getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")}


def check(result: int, what: str) -> int:
    """`result`, or OSError when it is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def fork() -> int:
    """The C library's fork, without Python's after-fork work: for a process of one thread, whose children need no `random`
    of their own, or seed it.

    Measured: it halves what a child costs before it does anything. Raises OSError, as os.fork does: who took -1 for a
    child's number, and ended that child, would end every process of this user.
    """
    pid = _fork()
    if pid < 0:
        raise OSError("no process can be made")
    return pid


def no_new_privileges() -> None:
    check(prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def die_with_parent(number: int = 9) -> None:
    """This process gets signal `number` when its parent ends."""
    check(prctl(_PDEATHSIG, number, 0, 0, 0), "pdeathsig")


def adopt_orphans() -> None:
    check(prctl(_SUBREAPER, 1, 0, 0, 0), "subreaper")


def hide_memory() -> None:
    """No tracing and no core file, also not by processes of the same user."""
    check(prctl(_DUMPABLE, 0, 0, 0, 0), "dumpable")


def drop_capabilities() -> None:
    """None are left, and none can come back."""
    for capability in range(64):
        if prctl(_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break  # past the last one, or there is no right to drop: then there are none to drop either
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    check(LIBC.syscall(_CAPSET[os.uname().machine], header, nothing), "capset")


def become(user: int) -> None:
    """Gives up root for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def leave(*namespaces: str) -> None:
    """Moves this process (for "pid": its children) into new namespaces."""
    flags = 0
    for name in namespaces:
        flags |= NEW_NAMESPACE[name]
    check(LIBC.unshare(flags), "unshare")


def mount_folder(path: str, size_mb: int) -> None:
    """An empty folder in memory at `path`, writable by all, that takes `size_mb`."""
    options = f"size={size_mb}m,nr_inodes=4096,mode=0777".encode()
    check(LIBC.mount(b"tmpfs", path.encode(), b"tmpfs", 2 | 4, options), "mount")  # nosuid, nodev


def mount_processes(path: str) -> None:
    """/proc of this process's own tree: its processes, and nothing of the machine."""
    check(LIBC.mount(b"proc", path.encode(), b"proc", 2 | 4 | 8, b"subset=pid"), "mount proc")


def make_read_only(path: str) -> None:
    """Of what is mounted there, for good: nobody here can mount it anew."""
    check(LIBC.mount(None, path.encode(), None, 1 | 2 | 4 | 32 | 4096, None), "remount")  # read-only, this mount alone


def address_space() -> int:
    """Bytes of address space this process uses (to 1 MiB), found by trying: there is no /proc to ask."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, 1 << 46
    while high - low > 1 << 20:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle, hard))
        try:
            mmap.mmap(-1, 4096).close()
            high = middle
        except OSError:
            low = middle
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return high


def give_back_memory() -> None:
    """Frees what is free: every page a zygote holds is paid for at each fork."""
    trim = getattr(LIBC, "malloc_trim", None)  # glibc only
    if trim is not None:
        trim(0)


def limit(what: str, value: int) -> None:
    """Sets soft and hard limit `RLIMIT_<what>`, never above the hard one that holds."""
    number = _LIMITS[what]
    hard = getrlimit(number)[1]
    if value > hard >= 0:
        value = hard
    setrlimit(number, (value, value))
