"""The zygote: a small warm Python that forks a child a job, reaps it, kills it on demand, and knows nothing of its job.

It is exec'd with an empty environment. Its only descriptor is the control socket (0); a child's own pipes pass through
it, what is said in them does not. When the driver goes, the control socket ends, and with it everything here.
"""

import _socket
import gc
import json
import os
import select
import signal
import sys
from _signal import SIG_DFL, SIGCHLD, set_wakeup_fd
from _signal import signal as set_handler  # `signal` goes through enumerations
from array import array
from collections.abc import Sequence
from os import closerange, dup2, set_inheritable, setpgid

from . import confine, kernel, wire
from .children import child_of
from .wire import unpack

CONTROL = 0


def main() -> None:
    """What to be stands on the command line: see hbench/engines/jail/start.py."""
    setting = json.loads(sys.argv[1])
    sys.argv[:] = [""]
    sys.path[:] = setting["path"]
    for name in set(os.environ) - set(setting["environment"]):
        del os.environ[name]  # PYTHONHASHSEED, and what bubblewrap and Python add
    child = child_of(setting["purpose"])
    child.preload()
    jail = confine.zygote(setting, child)
    gc.collect()
    kernel.give_back_memory()
    gc.freeze()
    Zygote(child, jail).serve()


class Zygote:
    def __init__(self, child, jail: confine.Jail):
        self.child, self.jail = child, jail
        self.fork, self.run = child.fork, child.run
        self.control = _socket.socket(fileno=os.dup(CONTROL))
        self.pids: dict[int, int] = {}  # job -> pid
        self.jobs: dict[int, int] = {}  # pid -> job
        self.nothing = os.open("/dev/null", os.O_RDONLY)

    def serve(self) -> None:
        """Until the driver goes."""
        wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(wake, select.POLLIN)
        for number in (0, 1, 2):  # a start that failed could still be told on stderr
            os.dup2(self.nothing, number)
        self.control.send(b"R" + json.dumps(self.jail.promises()).encode())
        while True:
            for number, _ in poll.poll():
                if number == wake:
                    os.read(wake, 4096)
                    self.reap()
                else:
                    self.obey()

    def obey(self) -> None:
        data, attached, _, _ = self.control.recvmsg(1 << 16, _socket.CMSG_SPACE(3 * 4), _socket.MSG_CMSG_CLOEXEC)
        if not data:
            self.end()
        descriptors = array("i", attached[0][2]) if attached else ()
        sort, job = wire.ORDER.unpack_from(data)
        if sort == b"F":
            self.start(job, data[wire.ORDER.size :], descriptors)
        elif sort == b"K":
            self.kill(job)
        else:
            self.child.prepare(descriptors[0])
        for descriptor in descriptors:
            os.close(descriptor)

    def start(self, job: int, order: bytes, descriptors: Sequence[int]) -> None:
        """order: as JSON, which the child reads: what is touched here is copied after every fork."""
        try:
            pid = self.fork()
        except OSError:
            self.control.send(wire.ENDED.pack(b"E", job, wire.FORK_FAILED, 0.0, 0.0))
            return
        if pid == 0:
            self._become_child(order, descriptors)
        if self.jail.groups:
            _own_group(pid)
        self.pids[job], self.jobs[pid] = pid, job
        self.control.send(wire.STARTED.pack(b"S", job))

    def _become_child(self, order: bytes, descriptors: Sequence[int]) -> None:
        try:
            set_wakeup_fd(-1)
            set_handler(SIGCHLD, SIG_DFL)
            if self.jail.groups:
                _own_group(0)
            _only(descriptors)
            self.run(unpack(order), self.jail)
        except BaseException as trouble:  # of our own code: the driver sees the exit code, a developer the text
            os.write(2, f"{type(trouble).__name__}: {trouble}".encode()[:500])
        finally:
            os._exit(71)

    def kill(self, job: int) -> None:
        """Ends the job's child, which has not been waited for, so its number is still its own."""
        if job in self.pids:
            self._signal(self.pids[job])

    def _signal(self, pid: int) -> None:
        try:
            os.killpg(pid, signal.SIGKILL) if self.jail.groups else os.kill(pid, signal.SIGKILL)
        except OSError:
            pass  # gone

    def reap(self) -> None:
        while True:
            try:
                seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) if self.jail.groups else None
                if seen is not None and seen.si_pid in self.jobs:
                    self._signal(seen.si_pid)  # what it left running in its group
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            job = self.jobs.pop(pid, None)
            if job is not None:
                del self.pids[job]
                if self.jail.ground is not None:
                    self.jail.ground.clear(job)
                self.control.send(wire.ENDED.pack(b"E", job, status, used.ru_utime, used.ru_stime))

    def end(self) -> None:
        for pid in list(self.jobs):
            self._signal(pid)
        if self.jail.ground is not None:
            self.jail.ground.leave()
        os._exit(0)


def _own_group(pid: int) -> None:
    try:
        setpgid(pid, pid)
    except OSError:
        pass  # it did so itself, or is gone


def _only(descriptors: Sequence[int]) -> None:
    """Makes the descriptors 3 (channel), 1 and 2 (one output for both if only one came) and closes all others."""
    channel = descriptors[0]
    if len(descriptors) > 1:
        dup2(descriptors[1], 1)
        dup2(descriptors[-1], 2)
    dup2(channel, 3) if channel != 3 else set_inheritable(3, True)
    closerange(4, 1 << 20)
