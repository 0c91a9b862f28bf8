"""The server of the page: one process, bound to this machine's loopback address."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hbench.core.failure import HbenchError
from hbench.view.app import application
from hbench.view.reading import Reading

HOST = "127.0.0.1"
START_S = 3.0  # for what has finished to be folded in before the first page


def serve(folder: Path, port: int, say: Callable[[str], Any]) -> None:
    """Serves what is in `folder` until it is interrupted. Raises HbenchError where that cannot start."""
    made = server(folder, bound := listening(port))
    say(f"http://{HOST}:{bound.getsockname()[1]}/  ({folder}; Ctrl-C ends it)")
    made.run(sockets=[bound])


def server(folder: Path, bound: socket.socket) -> Any:
    """A uvicorn server over `folder`, for a socket that `listening` gave."""
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as lacking:
        raise HbenchError(f"the page needs {lacking.name}: pip install 'hbench[view]'") from None
    reading = Reading(folder)
    reading.catch_up(START_S)
    app = application(reading, bound.getsockname()[1])
    return uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=1))


def listening(port: int) -> socket.socket:
    """A socket on the loopback address; port 0 takes a free one. Raises HbenchError for one that is taken."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
        bound.listen(128)  # who comes before the server is up waits
    except OSError as taken:
        bound.close()
        raise HbenchError(f"port {port} is taken ({taken.strerror}); --port 0 takes a free one") from None
    return bound
