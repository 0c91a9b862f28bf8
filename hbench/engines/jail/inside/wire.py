"""Messages on a stream: four bytes of length (big-endian), then that many bytes of UTF-8 JSON."""

import json
import os
import struct

HEADER = struct.Struct(">I")
ENDED = struct.Struct(">cIidd")  # b"E", job, wait status, user CPU seconds, system CPU seconds
STARTED = struct.Struct(">cI")  # b"S", job
FORK_FAILED = -1  # in the place of a wait status
_ENCODE = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode  # json.dumps would make one a message
_DECODE = json.JSONDecoder().raw_decode  # what `pack` made begins with its value


def pack(value) -> bytes:
    """One message. Raises TypeError or ValueError for what JSON cannot hold; lone surrogates go through."""
    body = _ENCODE(value).encode()
    return HEADER.pack(len(body)) + body


def send(fd: int, value) -> None:
    """Writes one message to a blocking descriptor."""
    rest = memoryview(pack(value))
    while rest:
        rest = rest[os.write(fd, rest) :]


def receive(fd: int):
    """The next message from a blocking descriptor. Raises EOFError when the other side is gone."""
    (length,) = HEADER.unpack(_exactly(fd, HEADER.size))
    return _DECODE(_exactly(fd, length).decode())[0]


def _exactly(fd: int, count: int) -> bytes:
    part = os.read(fd, min(count, 1 << 20))
    if len(part) == count:
        return part
    parts = [part]
    while count := count - len(part):
        if not part:
            raise EOFError
        parts.append(part := os.read(fd, min(count, 1 << 20)))
    return b"".join(parts)
