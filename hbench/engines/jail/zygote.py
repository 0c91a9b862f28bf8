"""The driver's side of one zygote: start it, have it fork, be told what ended, end a child, notice that it died."""

import asyncio
import json
import os
import resource
import signal
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from hbench.core.digest import Json, spaced_text
from hbench.core.failure import StepError
from hbench.engines.jail import cgroup, start
from hbench.engines.jail.inside import wire

START_S = 60.0  # loading the grader's libraries on a busy machine
LEAVE_S = 1.0  # for ending, with all children
_PACKET = 1 << 16


class ZygoteDied(StepError):
    """The zygote went away with its children. The job may be tried again in another one."""


@dataclass(slots=True)
class Ended:
    """How a child ended. status: a wait status. cpu_seconds: its own CPU time."""

    status: int
    cpu_seconds: float

    @property
    def signal(self) -> int:
        return os.WTERMSIG(self.status) if os.WIFSIGNALED(self.status) else 0

    @property
    def code(self) -> int:
        return os.WEXITSTATUS(self.status) if os.WIFEXITED(self.status) else -1


@dataclass(slots=True)
class Child:
    """One forked child. started and ended are set once the zygote says so. deaths: of its jails for want of memory, before."""

    job: int
    zygote: "Zygote"
    started: asyncio.Future = field(repr=False)
    ended: asyncio.Future = field(repr=False)
    deaths: int = 0

    def kill(self) -> None:
        """Ends it and all it started; does nothing when it has ended. `ended` follows."""
        if not self.ended.done():
            self.zygote.order(b"K", self.job)

    def raise_if_starved(self, ended: Ended) -> None:
        """Raises StepError where the kernel ended it for want of memory: all together had too much, and it may be blameless."""
        if ended.signal == signal.SIGKILL and cgroup.deaths() > self.deaths:
            what = f"the kernel ended a process of the {self.zygote.purpose} jail: all of them together used up their memory"
            raise StepError(f"{what}; let fewer rollouts live at once (machine.in_flight), or use a machine with more memory")


class Zygote:
    """Use from one asyncio loop. Children in flight: any number; none holds a thread."""

    def __init__(self, recipe: start.Recipe, purpose: start.Purpose, packages: Sequence[str] = ()):
        self.recipe, self.purpose, self.packages = recipe, purpose, packages
        self.promises: dict = {}
        self.children: dict[int, Child] = {}
        self.alive = False
        self._last = 0
        self._ready: asyncio.Future | None = None
        self._unsent: list[tuple[bytes, list[int]]] = []

    async def start(self) -> None:
        """Returns once it is warm and confined. Raises StepError, saying what it said, when it could not be."""
        self._loop = asyncio.get_running_loop()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setblocking(False)
        with theirs:
            self._process = self._exec(theirs)
        self._ready = self._loop.create_future()
        self.alive = True
        self._loop.add_reader(self._control, self._on_readable)
        said = ""
        try:
            self.promises = await asyncio.wait_for(self._ready, START_S)
        except (ZygoteDied, TimeoutError):
            said = self._last_words() or f"no sign of life in {START_S:g} s"
        finally:
            if not self.promises:
                self.close()
        if said:
            raise StepError(f"the {self.purpose} jail ({self.recipe.sandbox}) did not start: {said}")

    def _exec(self, control: socket.socket) -> subprocess.Popen:
        return subprocess.Popen(
            cgroup.entered(start.command(self.recipe, self.purpose, self.packages)),
            env=start.environment(self.purpose),
            stdin=control,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd=None if self.purpose == "grader" else "/",
        )

    def _last_words(self) -> str:
        os.set_blocking(self._process.stderr.fileno(), False)
        return (self._process.stderr.read() or b"").decode("utf-8", "replace").strip()[-1000:]

    def fork(self, order: dict, descriptors: list[int]) -> Child:
        """A new child that gets copies of `descriptors`: channel, stdout, stderr. The caller closes its own."""
        if not self.alive:
            raise ZygoteDied(f"the {self.purpose} jail's zygote is not running")
        self._last += 1
        child = Child(self._last, self, self._loop.create_future(), self._loop.create_future(), cgroup.deaths())
        self.children[child.job] = child
        self.order(b"F", child.job, {"job": child.job, **order}, descriptors)
        return child

    def order(self, sort: bytes, job: int = 0, told: Json = None, descriptors: Sequence[int] = ()) -> None:
        """Sends one order (wire.ORDER); keeps it, in order, while the zygote is behind."""
        if not self.alive:
            return
        packet = wire.ORDER.pack(sort, job) + spaced_text(told).encode()
        if self._unsent or not self._try_send(packet, descriptors):
            self._unsent.append((packet, [os.dup(d) for d in descriptors]))
            self._loop.add_writer(self._control, self._send_rest)

    def _try_send(self, packet: bytes, descriptors: list[int]) -> bool:
        try:
            socket.send_fds(self._control, [packet], descriptors)
        except BlockingIOError:
            return False
        except OSError:
            self._died()
        return True

    def _send_rest(self) -> None:
        while self._unsent and self._try_send(*self._unsent[0]):
            for descriptor in self._unsent.pop(0)[1]:
                os.close(descriptor)
        if not self._unsent and self.alive:
            self._loop.remove_writer(self._control)

    def _on_readable(self) -> None:
        try:
            packet = self._control.recv(_PACKET)  # the loop calls again for the next: to look here is one call too many each time
        except BlockingIOError:
            return
        except OSError:
            packet = b""
        self._on_packet(packet) if packet else self._died()

    def _on_packet(self, packet: bytes) -> None:
        sort = packet[:1]
        if sort == b"E":
            _, job, status, user, system = wire.ENDED.unpack(packet)
            child = self.children.pop(job)
            _set(child.started, None)
            _set(child.ended, Ended(status, user + system))
        elif sort == b"S":
            child = self.children.get(wire.STARTED.unpack(packet)[1])
            _set(child.started, None)
        elif sort == b"R":
            _set(self._ready, json.loads(packet[1:]))

    def _died(self) -> None:
        if not self.alive:
            return
        self.alive = False
        self._loop.remove_reader(self._control)
        self._loop.remove_writer(self._control)
        trouble = ZygoteDied(f"the {self.purpose} jail's zygote died with {len(self.children)} children")
        waiting = [self._ready, *(f for child in self.children.values() for f in (child.started, child.ended))]
        self.children.clear()
        for future in waiting:
            if not future.done():
                future.set_exception(trouble)
                future.exception()  # seen: nobody may be waiting for this one

    def close(self) -> None:
        """Ends the zygote and every child. Its process is waited for."""
        self.dismiss()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVE_S)
        self._end()

    def dismiss(self) -> None:
        """Lets the zygote end, and every child with it."""
        self._died()
        self._control.close()
        for _, descriptors in self._unsent:
            for descriptor in descriptors:
                os.close(descriptor)
        self._unsent.clear()

    async def left(self) -> None:
        """Returns once its process has ended after `dismiss`; it is killed when that takes a second."""
        until = self._loop.time() + LEAVE_S
        try:
            while self._process.poll() is None and self._loop.time() < until:
                await asyncio.sleep(0.01)
        finally:
            self._end()

    def _end(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process.stderr.close()


def _set(future: asyncio.Future, value) -> None:
    if not future.done():
        future.set_result(value)


def allow_many_descriptors() -> None:
    """Raises this process's own limit as far as it may: two descriptors a question in flight."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 1 << 16 if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
