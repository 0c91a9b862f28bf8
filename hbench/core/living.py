"""Whether a process that was written down somewhere still lives."""

import os
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path


@cache
def this_machine() -> str:
    """Host, boot and process namespace: a pid is compared only where all three agree."""
    namespace = boot = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid")
    return f"{socket.gethostname()} {boot} {namespace}"


def started(pid: int) -> str:
    """When the process started, in the kernel's ticks; "" where /proc does not say. A zombie is dead: "zombie"."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "zombie" if fields[0] in "ZX" else fields[19]


def lives(pid: int, when: str) -> bool:
    """Whether the process `pid` of this machine that started at `when` is still there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # another user's
    return started(pid) in (when, "")
