"""What a session does for its driver: lays files, runs commands, relays their calls, hands back what they left.

Nothing here is done in a command's name but what files.py and shell.py do in children with a command's rights.
"""

import errno
import json
import os
import select
import shlex
import signal
import time

from . import files, kernel, shell, wire
from .calls import AT_ONCE, Calls
from .kept import Kept
from .tree import exit_code

CHANNEL = 3
MOST_OUTPUT = 64 << 20  # bytes of one command; then its pipe is closed, as `head` does
MOST_FILES = 4096
MOST_COUNTED = 2 * MOST_FILES  # beyond, what lies there is not known, and nothing may go on
_READ = 1 << 18


class Command:
    """One that runs. said: what it printed. output, trouble, code: pipes, the first two -1 once they have ended."""

    def __init__(self, number: int, chars: int):
        self.number, self.said = number, Kept(chars)
        self.pid = self.output = self.trouble = self.code = -1
        self.broken = b""
        self.calls: Calls | None = None
        self.answers: dict[int, int] = {}  # number of a call -> where its answer goes
        self.asked: set[int] = set()  # of these, the ones that the driver has not answered


class Session:
    def __init__(self, order: dict, jail, place):
        self.order, self.jail, self.place = order, jail, place
        self.serves: list[str] = []
        self.commands: dict[int, Command] = {}
        self.last_call = 0
        self.looked = self.size = self.count = 0
        self.poll = select.poll()
        self.watched: dict[int, object] = {}  # descriptor -> what to do when it is ready

    def serve(self) -> None:
        """Until the channel ends: then EOFError."""
        kernel.adopt_orphans()
        wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        self._watch(wake, lambda _: (os.read(wake, 4096), self._reap()))
        self._watch(CHANNEL, lambda _: self._obey(wire.receive(CHANNEL)))
        while True:
            on_disk = self.place.root and self.commands
            for descriptor, events in self.poll.poll(1000 if on_disk else None):
                if descriptor in self.watched:
                    self.watched[descriptor](events)
            if on_disk:
                self._hold_to_size()

    def _watch(self, descriptor: int, then, events: int = select.POLLIN) -> None:
        self.watched[descriptor] = then
        self.poll.register(descriptor, events)

    def _forget(self, descriptor: int) -> None:
        if self.watched.pop(descriptor, None) is not None:
            self.poll.unregister(descriptor)

    def _obey(self, message: dict) -> None:
        if "open" in message:
            self._open(**message["open"])
        elif "run" in message:
            self._run(message["run"])
        elif "stop" in message:
            if message["stop"] in self.commands:
                shell.end(self.commands[message["stop"]].pid)
        elif "answer" in message:
            self._answer(**message["answer"])
        else:
            trouble = files.as_student(self.jail, lambda: self._send_found(**message["collect"]))
            if trouble:
                wire.send(CHANNEL, {"fatal": trouble})

    def _send_found(self, patterns: list[str], most_bytes: int) -> None:
        files.send_found(CHANNEL, self.place.workspace, patterns, most_bytes)

    def _open(self, laid: dict, read_only: dict, commands: list[str], client: str) -> None:
        place = self.place
        trouble = files.as_student(self.jail, lambda: files.lay(place.workspace, laid))
        try:
            files.lay(place.bank, read_only)
            for name in commands:
                words = f"{shlex.quote(place.python)}/bin/python3 -I -S -X utf8 {shlex.quote(client)} {name}"
                with open(f"{place.commands}/{name}", "w") as file:
                    file.write(f'#!/bin/sh\nexec {words} "$@"\n')
                os.chmod(f"{place.commands}/{name}", 0o755)
            place.close_bank()
        except OSError as failed:
            trouble = trouble or str(failed)
        self.serves = commands
        wire.send(CHANNEL, {"trouble": trouble, "folder": place.workspace, "bank": place.bank})

    def _run(self, run: dict) -> None:
        command = Command(run["number"], run["output_chars"])
        try:
            folder = self._open_calls(command) if self.serves and run["served"] else ""
            started = shell.start({**run, **self.order}, self.place, self.jail, folder)
        except OSError as failed:
            wire.send(CHANNEL, {"ended": True, "command": command.number, "broken": str(failed)})
            return
        if self.place.root and not self.commands:
            self.size, self.count = self._used()  # what commands before it left is not its doing
        command.pid, command.output, command.trouble, command.code = started
        self.commands[command.number] = command
        self._watch(command.output, lambda _: self._read(command))
        self._watch(command.trouble, lambda _: self._read_trouble(command))
        if command.calls:
            self._watch(command.calls.bell, lambda _: self._take(command))

    def _open_calls(self, command: Command) -> str:
        """The folder of its calls; "" where commands before it have taken or filled it, so that nothing answers this one."""
        folder = f"{self.place.calls}/{command.number}"
        try:
            command.calls = Calls(folder)
        except OSError as failed:
            if failed.errno not in (errno.EEXIST, errno.ENOSPC):
                raise
            return ""
        return folder

    def _read(self, command: Command) -> bool:
        """Whether there may be more at once."""
        try:
            data = os.read(command.output, _READ)
        except BlockingIOError:
            return False
        command.said.add(data, final=not data)
        if not data or command.said.bytes > MOST_OUTPUT:
            self._close_output(command)
        return command.output >= 0

    def _close_output(self, command: Command) -> None:
        if command.output >= 0:
            self._forget(command.output)
            os.close(command.output)
            command.output = -1

    def _read_trouble(self, command: Command) -> None:
        """The pipe ends unused when the shell starts."""
        command.broken = os.read(command.trouble, 2000)
        self._forget(command.trouble)
        os.close(command.trouble)
        command.trouble = -1
        if not command.broken:
            wire.send(CHANNEL, {"started": True, "command": command.number})

    def _take(self, command: Command) -> None:
        for pipe, call in command.calls.take():
            self.last_call += 1
            command.answers[self.last_call] = pipe
            number = self.last_call
            if call["name"] not in self.serves or len(command.asked) >= AT_ONCE:
                told = f"{call['name']}: more than {AT_ONCE} calls at once" if call["name"] in self.serves else "no such program"
                self._answer(number, command.number, told, 1)
                continue
            command.asked.add(number)
            self._watch(pipe, lambda _, number=number: self._gone(command, number), 0)  # told of its program's end alone
            wire.send(CHANNEL, {"call": number, "command": command.number, **call})

    def _gone(self, command: Command, number: int) -> None:
        self._end_call(command, number)
        wire.send(CHANNEL, {"gone": number, "command": command.number})

    def _end_call(self, command: Command, number: int) -> None:
        pipe = command.answers.pop(number)
        command.asked.discard(number)
        self._forget(pipe)
        command.calls.answered(pipe)

    def _answer(self, number: int, command: int, text: str, code: int) -> None:
        ran = self.commands.get(command)
        if ran is not None and number in ran.answers:
            ran.asked.discard(number)
            rest = json.dumps({"text": text, "code": code}).encode()
            self._forget(ran.answers[number])
            self._watch(ran.answers[number], lambda _: self._write(ran, number, left), select.POLLOUT)
            left = [memoryview(rest)]

    def _write(self, command: Command, number: int, left: list[memoryview]) -> None:
        try:
            left[0] = left[0][os.write(command.answers[number], left[0]) :]
        except BlockingIOError:
            return
        except OSError:
            left[0] = left[0][:0]  # its program has gone
        if not left[0]:
            self._end_call(command, number)

    def _hold_to_size(self) -> None:
        """On disk, where no mount does it: once a second, what fills more than it may, and goes on filling, is ended."""
        if time.monotonic() < self.looked + 1:
            return
        size, count = self._used()
        over = size > self.order["disk_mb"] << 20 or count > MOST_FILES
        if over and (size > self.size or count > self.count or count > MOST_COUNTED):
            for command in self.commands.values():
                if command.output >= 0:
                    self._read(command)  # it said that before
                command.said.add(b"\nstopped: no space left on device\n")
                shell.end(command.pid)
        self.looked, self.size, self.count = time.monotonic(), size, count

    def _used(self) -> tuple[int, int]:
        return files.used([self.place.workspace, self.place.tmp, self.place.calls], MOST_COUNTED)

    def _reap(self) -> None:
        """What has ended: a command with all that is left of it, or a stray of one (see kernel.adopt_orphans)."""
        while True:
            try:
                seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if seen is None:
                return
            commands = [command for command in self.commands.values() if command.pid == seen.si_pid]
            for command in commands:
                shell.end(command.pid)  # while it has not been waited for, the number is its own
            code = exit_code(os.waitpid(seen.si_pid, 0)[1])
            for command in commands:
                _wait_for_strays(command.pid)
                self._ended(command, code)

    def _ended(self, command: Command, code: int) -> None:
        while command.output >= 0 and self._read(command):
            pass
        self._close_output(command)
        command.said.add(b"", final=True)
        if command.trouble >= 0:
            self._read_trouble(command)
        code = _left_in(command.code, code)
        for number in list(command.answers):
            self._gone(command, number)
        if command.calls:
            self._forget(command.calls.bell)
            command.calls.close()
        del self.commands[command.number]
        told = {"broken": command.broken.decode("utf-8", "replace")} if command.broken else {"code": code}
        wire.send(CHANNEL, {"ended": True, "command": command.number, "output": command.said.text(), **told})


def _wait_for_strays(group: int) -> None:
    """Until the last of a group that was ended is gone."""
    try:
        while True:
            os.waitpid(-group, 0)
    except ChildProcessError:
        pass


def _left_in(pipe: int, code: int) -> int:
    """The exit code that a shell's parent left before it ended itself, else `code`."""
    try:
        left = os.read(pipe, 1)
    except BlockingIOError:
        left = b""
    os.close(pipe)
    return left[0] if left else code
