"""A model server with every fault that we know of: the first part of the path says which.

`http://…/reset/v1` resets each connection, `http://…/well/v1` answers. Once it is mended, every path answers.
"""

import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def reply(text: str | None = "7", finish: str = "stop", **message) -> bytes:
    """The body of a whole answer."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}).encode()


class Call:
    """One request that is being answered; a fault is a function of it."""

    def __init__(self, handler: BaseHTTPRequestHandler):
        self._handler = handler

    def answer(self, status: int, body: bytes, says: int | None = None, **headers: str) -> None:
        """says: the length in the header, where it is not the body's."""
        self._handler.send_response(status)
        for name, value in {"Content-Length": str(len(body) if says is None else says), **headers}.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.end_headers()
        self._handler.wfile.write(body)
        self._handler.close_connection = says is not None

    def stream(self, *pieces: bytes) -> None:
        """Pieces of a stream, behind which the connection ends without the piece that would end it."""
        self._handler.send_response(200)
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()
        for piece in pieces:
            self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self._handler.close_connection = True

    def close(self) -> None:
        """The connection ends without a word."""
        self._handler.close_connection = True

    def reset(self) -> None:
        """The connection is reset, not closed."""
        self._handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._handler.connection.close()
        self._handler.close_connection = True


SILENCE_S = 60.0
# Each fault, and what the step says of it.
FAULTS: dict[str, tuple[Callable[[Call], None], str]] = {
    "status-429": (lambda call: call.answer(429, b'{"error": {"message": "slow down"}}', Retry_After="0"), "429: slow down"),
    "status-500": (lambda call: call.answer(500, b"Internal Server Error"), "500: Internal Server Error"),
    "status-503-html": (lambda call: call.answer(503, b"<html><h1>503</h1></html>"), "503: <html>"),
    "status-400-text": (lambda call: call.answer(400, b"Bad Request: no such thing"), "400: Bad Request: no such thing"),
    "status-401": (lambda call: call.answer(401, b'{"error": "no key"}'), "401: no key"),
    "error-in-200": (lambda call: call.answer(200, b'{"error": {"message": "overloaded"}}'), "no choices in"),
    "no-choices": (lambda call: call.answer(200, b'{"choices": []}'), "choice 0 of 1 is missing"),
    "no-message": (lambda call: call.answer(200, b'{"choices": [{"index": 0}]}'), "half a reply"),
    "null-in-place-of-message": (lambda call: call.answer(200, b'{"choices": [{"message": null}]}'), "half a reply"),
    "given-up": (lambda call: call.answer(200, reply("half a th", "abort")), "half a reply"),
    "half-body": (lambda call: call.answer(200, reply()[:40], says=len(reply())), "the body broke off"),
    "half-stream": (lambda call: call.stream(reply()[:30], reply()[30:60]), "the body broke off"),
    "half-json": (lambda call: call.answer(200, reply()[:60]), "not JSON"),
    "no-utf8": (lambda call: call.answer(200, b"\xff\xfe" + reply()), "not JSON"),
    "empty-body": (lambda call: call.answer(200, b""), "not JSON"),
    "reset": (lambda call: call.reset(), "connection"),
    "closed": (lambda call: call.close(), "connection"),
    "silence": (lambda call: time.sleep(SILENCE_S), "no reply within"),
}
# What looks odd and is an answer all the same.
ANSWERS: dict[str, Callable[[Call], None]] = {
    "null-content": lambda call: call.answer(200, reply(None)),
    "empty-text": lambda call: call.answer(200, reply("")),
    "cut-by-length": lambda call: call.answer(200, reply("The sum is", "length")),
}


class FaultyServer:
    """A context manager. asked: how often each path was asked for a reply. mended: answer everything."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.mended = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                served = "another" if "wrong-name" in self.path and not outer.mended else "solver"
                Call(self).answer(200, json.dumps({"data": [{"id": served}]}).encode())

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                fault = self.path.split("/")[1]
                outer.asked[fault] += 1
                how = ANSWERS.get(fault) or (None if outer.mended else FAULTS.get(fault, (None, ""))[0])
                how(Call(self)) if how else Call(self).answer(200, reply())

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # whom we left alone in the middle
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
