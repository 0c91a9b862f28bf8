"""Where a ready step runs: a thread here. Steps wait for models and jails, so threads are enough."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class Threads:
    """Daemon threads, one a step under way: a step that hangs in a library cannot keep a stopped run alive."""

    def __init__(self, workers: int):
        self._workers = workers

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future:
        """Starts `work`; the caller sees to it that no more than `workers` are under way."""
        future: Future = Future()

        def body() -> None:
            try:
                future.set_result(work(*arguments))
            except BaseException as trouble:
                future.set_exception(trouble)

        threading.Thread(target=body, daemon=True).start()
        return future

    def close(self) -> None:
        """Nothing to wait for: threads are daemons and leave only whole records behind."""
