"""Messages on a stream: four bytes of length (big-endian), then that many bytes of UTF-8 JSON."""

import json
import os
import struct
from json.encoder import c_make_encoder, encode_basestring_ascii

HEADER = struct.Struct(">I")
ENDED = struct.Struct(">cIidd")  # b"E", job, wait status, user CPU seconds, system CPU seconds
STARTED = struct.Struct(">cI")  # b"S", job
ORDER = struct.Struct(">cI")  # b"F" (fork; JSON follows), b"K" (kill) or b"P" (prepare), job
FORK_FAILED = -1  # in the place of a wait status
# What json.dumps and json.loads make anew at each call, and enter through more of Python than they need.
_ENCODE = c_make_encoder(None, json.JSONEncoder().default, encode_basestring_ascii, None, ":", ",", False, False, False)
_DECODE = json.JSONDecoder().scan_once


def pack(value) -> bytes:
    """One message. Raises TypeError, ValueError or RecursionError for what JSON cannot hold; lone surrogates go through."""
    body = "".join(_ENCODE(value, 0)).encode()
    return HEADER.pack(len(body)) + body


def send(fd: int, value) -> None:
    """Writes one message to a blocking descriptor."""
    rest = memoryview(pack(value))
    while rest:
        rest = rest[os.write(fd, rest) :]


def receive(fd: int):
    """The next message from a blocking descriptor. Raises EOFError when the other side is gone."""
    (length,) = HEADER.unpack(_exactly(fd, HEADER.size))
    return unpack(_exactly(fd, length))


def unpack(body: bytes):
    """What is in the body of a message."""
    return _DECODE(body.decode(), 0)[0]


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
