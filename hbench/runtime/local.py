"""Where a ready step runs: a thread here. Steps wait for models and jails, so threads are enough."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


def in_thread(work: Callable[..., Any], *arguments: Any) -> Future:
    """What `work` gives or raises. The thread is a daemon: a step that hangs in a library cannot keep a stopped run alive."""
    future: Future = Future()

    def body() -> None:
        try:
            future.set_result(work(*arguments))
        except BaseException as trouble:
            future.set_exception(trouble)

    threading.Thread(target=body, daemon=True).start()
    return future
