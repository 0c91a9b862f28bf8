"""Leases: who may write an unfinished artifact. Good for threads, processes and machines that share a folder.

A lease is a file made with O_EXCL that says who holds it; one thread a process touches all of its leases every 10 s.
It is taken from a holder that is known to be dead (same host, and the process is gone) at once, and from one elsewhere
when its file has not been touched for 60 s of *the waiter's own* clock: clocks are never compared, so none can jump.
A holder that lives on this host is never robbed, however long it has been stopped.
"""

import fcntl
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hbench.core.failure import StepError
from hbench.core.living import lives, started, this_machine
from hbench.store.rows import put_whole

HEARTBEAT_S = 10.0
STALE_S = 60.0


@dataclass(frozen=True)
class Holder:
    """machine: host, boot and process namespace: where `pid` means something. started: tells a reused pid apart."""

    host: str
    machine: str
    pid: int
    started: str
    token: str = field(default_factory=lambda: secrets.token_hex(8))

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


class Lease:
    """A held lease. `check` raises once it was lost; `drop` gives it back."""

    def __init__(self, file: Path, holder: Holder):
        self.file, self.holder = file, holder

    def is_ours(self) -> bool:
        return read_holder(self.file) == self.holder

    def check(self) -> None:
        """Raises StepError when another process has taken the lease over."""
        if not self.is_ours():
            taker = read_holder(self.file)
            raise StepError(f"{self.file.name}: this process stood still for so long that {taker} took over")

    def drop(self) -> None:
        _HEART.forget(self)
        with _takeover(self.file):
            if self.is_ours():
                self.file.unlink()


class Watch:
    """One waiter's view of a lease: `try_take` gives the lease as soon as it may be had."""

    def __init__(self, file: Path):
        self.file = file
        self._seen: tuple = ()
        self._since = time.monotonic()

    def try_take(self) -> "Lease | Holder | None":
        """The lease, else who holds it (None when its file cannot be read yet)."""
        lease = Lease(self.file, _me())
        try:
            handle = os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except FileExistsError:
            return self._try_take_over(lease)
        try:
            with os.fdopen(handle, "w") as file:
                json.dump(asdict(lease.holder), file)
        except OSError:  # a full disk: an empty lease would keep everybody waiting
            self.file.unlink(missing_ok=True)
            raise
        _HEART.keep(lease)
        return lease

    def _try_take_over(self, lease: Lease) -> "Lease | Holder | None":
        holder = read_holder(self.file)
        if not self._is_stale(holder):
            return holder
        with _takeover(self.file):
            if read_holder(self.file) != holder or not self.file.exists():
                return holder  # somebody was quicker
            fresh = self.file.with_name(f"{self.file.name}.{lease.holder.token}")
            put_whole(self.file, json.dumps(asdict(lease.holder)), fresh)
        _HEART.keep(lease)
        return lease

    def _is_stale(self, holder: Holder | None) -> bool:
        if holder is not None and holder.machine == this_machine():
            return not lives(holder.pid, holder.started)
        with suppress(FileNotFoundError):
            state = (holder, self.file.stat().st_mtime_ns)
            if state != self._seen:
                self._seen, self._since = state, time.monotonic()
        return time.monotonic() - self._since > STALE_S


def read_holder(file: Path) -> Holder | None:
    """Who holds the lease; None when the file is not there or not whole (its maker died at once, or is writing)."""
    try:
        return Holder(**json.loads(file.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


class _Heart:
    """Touches every lease of this process from one thread."""

    def __init__(self) -> None:
        self._leases: set[Lease] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def keep(self, lease: Lease) -> None:
        with self._lock:
            self._leases.add(lease)
            if self._thread is None or not self._thread.is_alive():  # dead also in a forked child
                self._thread = threading.Thread(target=self._beat, name="hbench leases", daemon=True)
                self._thread.start()

    def forget(self, lease: Lease) -> None:
        with self._lock:
            self._leases.discard(lease)

    def _beat(self) -> None:
        while True:
            time.sleep(HEARTBEAT_S)
            with self._lock:
                leases = list(self._leases)
            for lease in leases:
                with suppress(OSError):
                    if lease.is_ours():
                        os.utime(lease.file)


_HEART = _Heart()


@contextmanager
def _takeover(file: Path) -> Iterator[None]:
    """One process at a time ends leases in this folder. Without file locks (old NFS, a full disk) a narrow race is left."""
    with ExitStack() as stack:
        with suppress(OSError):
            guard = stack.enter_context((file.parent / ".takeover").open("a"))
            fcntl.flock(guard, fcntl.LOCK_EX)
        yield


def _me() -> Holder:
    return Holder(socket.gethostname(), this_machine(), os.getpid(), started(os.getpid()))
