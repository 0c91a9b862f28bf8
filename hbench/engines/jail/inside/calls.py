"""The calls of one command's programs (call.py), as the session takes them: a folder, a bell, a pipe for each answer."""

import json
import os
import stat

from .call import MOST_BYTES

AT_ONCE = 16
MOST_OPEN = 64  # answers not yet read: as many as a command has processes; beyond, calls are forged
_NAME = 16  # hexadecimal digits
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Calls:
    """All that lies in the folder is the command's to forge: what is not a call as call.py makes it is dropped."""

    def __init__(self, folder: str):
        os.mkdir(folder)
        os.chmod(folder, 0o777)
        self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        os.mkfifo("bell", dir_fd=self._folder)
        os.chmod(f"{folder}/bell", 0o666)
        self.bell = os.open("bell", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._folder)
        self._rung = b""
        self.waiting: set[int] = set()  # descriptors of answers that are still to come or not yet read

    def take(self) -> list[tuple[int, dict]]:
        """(where its answer goes, {"name", "argv", "stdin"}) of each call that was rung since."""
        try:
            self._rung += os.read(self.bell, 1 << 12)
        except BlockingIOError:
            return []
        *names, self._rung = self._rung.split(b"\n")
        self._rung = self._rung[:_NAME]
        found = [self._call(name.decode()) for name in names if _is_name(name)]
        return [call for call in found if call is not None]

    def _call(self, name: str) -> tuple[int, dict] | None:
        if len(self.waiting) >= MOST_OPEN:
            return None
        try:
            call = self._read(name)
            answer = os.open(name + ".answer", _WRITE, dir_fd=self._folder)
            if call is None or not stat.S_ISFIFO(os.fstat(answer).st_mode):
                os.close(answer)
                return None
        except OSError:
            return None
        self.waiting.add(answer)
        return answer, call

    def _read(self, name: str) -> dict | None:
        file = os.open(name, _READ, dir_fd=self._folder)
        try:
            seen = os.fstat(file)
            if not stat.S_ISREG(seen.st_mode) or seen.st_size > MOST_BYTES:
                return None
            data = os.read(file, MOST_BYTES)
        finally:
            os.close(file)
        os.unlink(name, dir_fd=self._folder)
        try:
            call = json.loads(data)
            return {"name": _text(call["name"]), "argv": [_text(a) for a in call["argv"]], "stdin": _text(call["stdin"])}
        except (ValueError, TypeError, KeyError, RecursionError):
            return None

    def answered(self, answer: int) -> None:
        """This call is over, or its program has gone."""
        self.waiting.discard(answer)
        os.close(answer)

    def close(self) -> None:
        for answer in list(self.waiting):
            self.answered(answer)
        os.close(self.bell)
        os.close(self._folder)


def _is_name(name: bytes) -> bool:
    return len(name) == _NAME and all(letter in b"0123456789abcdef" for letter in name)


def _text(value) -> str:
    """Without what no file and no prompt can hold. Raises TypeError."""
    if not isinstance(value, str):
        raise TypeError
    return value.encode("utf-8", "replace").decode()
