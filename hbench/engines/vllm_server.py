"""A vLLM server that hbench starts: up when it is first needed, watched, put to rest for others, ended with the run."""

import http.client
import json
import os
import re
import secrets
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hbench.core.failure import HbenchError
from hbench.engines.server_notes import end_group, forget, note
from hbench.engines.vllm_command import HOST, ToServe, command, environment, sleeps

LOOK_S = 0.2  # between looks whether it answers
MOST_DEATHS = 3  # what dies again and again would only die again
SLEEP_S = 300.0  # the weights of a large model leave the GPU in seconds
_CAUSE = re.compile(r"\b(?:\w*(?:Error|Exception)|error): .+")
TAIL_LINES, LINE_CHARS, TAIL_BYTES = 12, 300, 65536


class VLLMServer:
    """One server process and its children. Use it from any thread.

    log: where it writes, added to what is there. check: called while waiting; raises once the run is being stopped.
    lives: how often it was started; an adapter that one life was given is unknown to the next.
    """

    def __init__(self, what: ToServe, log: Path, check: Callable[[], None], say: Callable[[str], None] = lambda _: None):
        self.what, self.log, self._check, self._say = what, log, check, say
        self.key = secrets.token_urlsafe(24)
        self.port = 0
        self.lives = 0
        self.version = ""
        self._lock = threading.RLock()  # of starting, resting and ending
        self._process: subprocess.Popen | None = None
        self._answers = self._closed = False
        self._log_from = 0
        self._fate, self._deaths = "", 0

    @property
    def base_url(self) -> str:
        """Known once it was started."""
        return f"http://{HOST}:{self.port}/v1"

    @property
    def is_up(self) -> bool:
        """Whether it takes requests."""
        process = self._process
        return self._answers and process is not None and process.poll() is None

    def up(self) -> None:
        """Returns when it takes requests: starts it, or wakes it. Raises HbenchError when it cannot, or has died before."""
        with self._lock:
            if self.is_up:
                return
            if self._closed:
                raise HbenchError(f"vLLM for {self.what.name} was asked when the run had ended")
            if told := self.fate():
                raise HbenchError(told)
            if self._process is None:
                self._start()
            else:
                self._post("/wake_up")
                self._answers = True

    def fate(self) -> str:
        """Why it is no more: the end of its log, then one line that says it all. "" while it lives, or was never started."""
        process = self._process
        if process is not None and (code := process.poll()) is not None:
            with self._lock:
                if self._process is process:
                    self._die(f"was killed (signal {-code})" if code < 0 else f"ended with exit code {code}{self._cause()}")
        return self._fate

    def is_over(self, life: int) -> bool:
        """Whether the server that was started as the `life`-th is no more, whatever has come since."""
        return bool(self.fate()) or self.lives != life or self._process is None

    def forgive(self) -> None:
        """One that died may be started again by whoever asks next, unless it has died too often."""
        if self.fate() and self._deaths < MOST_DEATHS:
            self._fate = ""

    def rest(self) -> None:
        """Gives the device back, as serve.hand_over says: it sleeps, or ends. Nothing may be asked of it meanwhile."""
        with self._lock:
            if not self.is_up:
                return
            self._answers = False
            if sleeps(self.what.serve):
                self._post("/sleep?level=1")  # the prefix cache goes too
            else:
                self._end()

    def end(self) -> None:
        """Ends it for good, within about ten seconds; safe to call at any time."""
        self._closed = True  # a start under way ends itself
        with self._lock:
            self._end()

    def _start(self) -> None:
        self.port = self._port()
        words = command(self.what, self.port)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as out:
            self._log_from = out.tell()
            self._process = subprocess.Popen(
                words,
                env=environment(self.what, self.key),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches hbench alone, and its children can be ended with it
            )
        self.lives += 1
        note(self._process.pid, self.log)
        self._say(f"starting vLLM for {self.what.name} (log: {self.log})")
        try:
            self._wait()
        except BaseException:
            self._end()
            raise
        self._answers = True
        self.version = self._asked_version()

    def _port(self) -> int:
        wanted = self.what.serve.get("port")
        if wanted and _answering(wanted):
            hint = "name the server there by base_url in place of serve, or choose another serve.port"
            raise HbenchError(f"port {wanted}, where {self.what.name} should be served, is taken: {hint}")
        return wanted or _free_port()

    def _wait(self) -> None:
        """Until it answers. Raises HbenchError when it ends before, or takes too long."""
        seconds = self.what.serve.get("start_timeout_s", 900.0)
        until = time.monotonic() + seconds
        while not _healthy(self.port):
            self._check()
            if self._closed:
                raise HbenchError(f"the run ended while vLLM for {self.what.name} started")
            if told := self.fate():
                raise HbenchError(told)
            if time.monotonic() > until:
                self._die(f"did not answer within {seconds:g} s")
                raise HbenchError(self._fate)
            time.sleep(LOOK_S)

    def _die(self, how: str) -> None:
        """It is no more, or no good: what is left of it is ended at once, while its number is surely its own."""
        self._fate = self._told(how)
        self._deaths += 1
        self._end()

    def _end(self) -> None:
        self._answers = False
        process, self._process = self._process, None
        if process is not None:
            end_group(process.pid, lambda: process.poll() is None)
            process.wait()
            forget(process.pid)

    def _told(self, how: str) -> str:
        return "\n".join(["", *self._lines()[-TAIL_LINES:], f"the vLLM server of {self.what.name} {how} (more in {self.log})"])

    def _cause(self) -> str:
        """The first error of its log: what comes last says only that another of its processes has failed before."""
        return next((f": {found[0]}" for found in map(_CAUSE.search, self._lines()) if found), "")

    def _lines(self) -> list[str]:
        """The end of what this life of it has written."""
        with self.log.open("rb") as file:
            file.seek(max(self._log_from, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            said = file.read().decode("utf-8", "replace")
        return [line.rstrip()[:LINE_CHARS] for line in said.splitlines() if line.strip()]

    def _post(self, path: str) -> None:
        """Raises HbenchError when it refuses."""
        try:
            status, body = _asked("POST", self.port, path, self.key, SLEEP_S)
        except OSError as trouble:
            status, body = 0, str(trouble).encode()
        if status != 200:
            name = path.partition("?")[0]
            raise HbenchError(self.fate() or self._told(f"does not take {name}: {status} {body[:200].decode('utf-8', 'replace')}"))

    def _asked_version(self) -> str:
        with suppress(OSError, ValueError, AttributeError):
            return json.loads(_asked("GET", self.port, "/version", self.key, 10.0)[1]).get("version", "")
        return ""


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        return found.getsockname()[1]


def _answering(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as asked:
        asked.settimeout(1.0)
        return asked.connect_ex((HOST, port)) == 0


def _healthy(port: int) -> bool:
    try:
        return _asked("GET", port, "/health", "", 5.0)[0] == 200
    except OSError:
        return False


def _asked(method: str, port: int, path: str, key: str, timeout_s: float) -> tuple[int, bytes]:
    """Status and body. Raises OSError. No proxy stands between us and our own machine."""
    connection = http.client.HTTPConnection(HOST, port, timeout=timeout_s)
    try:
        connection.request(method, path, headers={"Authorization": f"Bearer {key}"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except http.client.HTTPException as trouble:
        raise OSError(f"{type(trouble).__name__}: {trouble}") from None
    finally:
        connection.close()
