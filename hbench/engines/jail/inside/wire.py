"""Messages on a stream: four bytes of length (big-endian), then that many bytes of UTF-8 JSON."""

import json
import struct
from json.encoder import c_make_encoder, encode_basestring_ascii
from os import read, write

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
    message = pack(value)
    written = write(fd, message)
    while written < len(message):
        written += write(fd, memoryview(message)[written:])


def receive(fd: int):
    """The next message from a blocking descriptor. Raises EOFError when the other side is gone."""
    header = read(fd, 4)
    while len(header) < 4:
        header += read(fd, 4 - len(header)) or _gone()
    (length,) = HEADER.unpack(header)
    body = read(fd, min(length, 1 << 20))
    if len(body) < length:
        body = _rest(fd, body, length)
    return _DECODE(body.decode(), 0)[0]


def unpack(body: bytes):
    """What is in the body of a message."""
    return _DECODE(body.decode(), 0)[0]


def _rest(fd: int, part: bytes, length: int) -> bytes:
    parts, count = [part], length - len(part)
    while count:
        parts.append(read(fd, min(count, 1 << 20)) or _gone())
        count -= len(parts[-1])
    return b"".join(parts)


def _gone():
    raise EOFError
