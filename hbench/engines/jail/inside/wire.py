"""Messages on a stream: four bytes of length (big-endian), then that many bytes of UTF-8 JSON."""

import json
import os
import struct

HEADER = struct.Struct(">I")
ENDED = struct.Struct(">cIidd")  # b"E", job, wait status, user CPU seconds, system CPU seconds
STARTED = struct.Struct(">cI")  # b"S", job
FORK_FAILED = -1  # in the place of a wait status


def pack(value) -> bytes:
    """One message. Raises TypeError or ValueError for what JSON cannot hold; lone surrogates go through."""
    body = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    return HEADER.pack(len(body)) + body


def send(fd: int, value) -> None:
    """Writes one message to a blocking descriptor."""
    rest = memoryview(pack(value))
    while rest:
        rest = rest[os.write(fd, rest) :]


def receive(fd: int):
    """The next message from a blocking descriptor. Raises EOFError when the other side is gone."""
    (length,) = HEADER.unpack(_exactly(fd, HEADER.size))
    return json.loads(_exactly(fd, length))


def _exactly(fd: int, count: int) -> bytes:
    parts = []
    while count:
        part = os.read(fd, min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
