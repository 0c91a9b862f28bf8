"""The driver's end of one child's pipe: whole messages out, checked messages in."""

import asyncio
import json
import math
import socket

from hbench.core.digest import Json
from hbench.core.failure import Failure
from hbench.engines.jail.inside import wire

DEPTH = 64  # of nested lists and objects in one message
_READ = 1 << 18


class BadMessage(Exception):
    """The child said something it must not. It ends as this Failure."""

    def __init__(self, failure: Failure):
        super().__init__(failure.message)
        self.failure = failure


class Channel:
    """Made with its two sockets: `theirs` is for the child, and closed here once it has it.

    message_chars: the longest message taken. on_message: called the moment a whole message is there.
    """

    def __init__(self, message_chars: int, on_message=lambda: None):
        self._loop = asyncio.get_running_loop()
        self._ours, self.theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._message_chars = message_chars
        self._on_message = on_message
        self._buffer = bytearray()
        self._length = 0  # of the next message, with its header; 0 while the header is not there
        self._whole = False  # whether all of it is there
        self._out = bytearray()
        self._ended = False
        self._bad: Failure | None = None
        self._waiting: asyncio.Future | None = None
        self._reading = False

    def send(self, value: Json) -> None:
        """Hands over one message; what the child does not read at once goes out as it reads."""
        data = wire.pack(value)
        if not self._out:
            data = data[self._write(data) :]
        if data:
            self._out += data
            self._loop.add_writer(self._ours, self._write_rest)

    def _write(self, data) -> int:
        try:
            return self._ours.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            return len(data)  # nobody reads any more

    def _write_rest(self) -> None:
        del self._out[: self._write(memoryview(self._out)[: 1 << 20])]
        if not self._out:
            self._loop.remove_writer(self._ours)

    async def receive(self) -> dict | None:
        """The child's next message, or None when its pipe has ended. Raises BadMessage."""
        if not self._whole and not self._ended:
            self._read_on(True)
            self._waiting = self._loop.create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        if self._bad is not None:
            raise BadMessage(self._bad)
        return self._take() if self._whole else None

    def _on_bytes(self) -> None:
        try:
            data = self._ours.recv(_READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._buffer += data
        if data:
            self._measure()
        else:
            self._end()
        if self._whole and not self._ended:
            if len(self._buffer) > self._length:
                self._read_on(False)  # what it sends out of turn waits in its own pipe
            self._on_message()
        if (self._whole or self._ended) and self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _read_on(self, wanted: bool) -> None:
        if wanted and not self._reading:
            self._loop.add_reader(self._ours, self._on_bytes)
        elif self._reading and not wanted:
            self._loop.remove_reader(self._ours)
        self._reading = wanted

    def _measure(self) -> None:
        """Notes how long the next message is, once its header is there; one that cannot be taken ends the channel."""
        there = len(self._buffer)
        if not self._length and there >= wire.HEADER.size:
            promised = wire.HEADER.unpack_from(self._buffer)[0]
            if promised == 0:
                self._end(Failure("harness", "protocol", "an empty message"))
            elif promised > 6 * self._message_chars:  # a character is at most six bytes, as \uXXXX
                self._end(Failure("limits", "message", f"a message longer than {self._message_chars} characters"))
            else:
                self._length = wire.HEADER.size + promised
        self._whole = 0 < self._length <= there

    def _end(self, bad: Failure | None = None) -> None:
        if not self._ended:
            self._ended, self._bad = True, bad
            self._read_on(False)

    def _take(self) -> dict:
        body = bytes(self._buffer[wire.HEADER.size : self._length])
        del self._buffer[: self._length]
        self._length = 0
        self._measure()
        return parse(body, self._message_chars)

    def close(self) -> None:
        self._end()
        self._loop.remove_writer(self._ours)
        self._ours.close()
        self.theirs.close()


def parse(body: bytes, message_chars: int) -> dict:
    """The object in `body`. Raises BadMessage: not UTF-8, not JSON, not an object, too long, or too deep."""
    try:
        text = body.decode()
        if len(text) > message_chars:
            told = f"a message of {len(text)} characters, at most {message_chars}"
            raise BadMessage(Failure("limits", "message", told))
        value = _decode(text)
    except RecursionError:
        raise BadMessage(_too_deep()) from None
    except ValueError as trouble:
        raise BadMessage(Failure("harness", "protocol", f"not a message: {trouble}"[:300])) from None
    if not isinstance(value, dict):
        raise BadMessage(Failure("harness", "protocol", f"not a message: {type(value).__name__}"))
    if body.count(b"[") + body.count(b"{") > DEPTH and _depth(value) > DEPTH:
        raise BadMessage(_too_deep())
    return value


def _too_deep() -> Failure:
    return Failure("limits", "message", f"a message nested deeper than {DEPTH}")


def _depth(value: Json) -> int:
    """Levels of nesting, counted level by level so that no depth overflows the stack."""
    depth, level = 0, [value]
    while level:
        inner = [v.values() if isinstance(v, dict) else v for v in level if isinstance(v, (dict, list))]
        depth, level = depth + 1, [item for items in inner for item in items]
    return depth - 1


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no finite number")
    return number


def _modest(text: str) -> int:
    """Numbers of more than 64 bits serve no tool, and overflow where one is made a float."""
    if len(text) > 19:
        raise ValueError(f"{text[:19]}… is too large a number")
    return int(text)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, parse_int=_modest)


def _decode(text: str) -> Json:
    try:
        value, end = _DECODER.scan_once(text, 0)
    except StopIteration:
        end = -1
    if end == len(text):
        return value
    return _DECODER.decode(text)  # blanks around it, or no JSON: this says what
