"""Several pieces of work at once, each waiting for models and jails."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from hbench.core.failure import StepError

MOST = 64  # threads; what waits for models and jails needs no more, since services bound the rollouts alive


def at_once(works: Sequence[Callable[[], Any]], limit_s: float | None = None, most: int = MOST) -> list[Any]:
    """What each gives, in order; in its place the StepError that it raised, or one that says it took longer than `limit_s`.

    Work that is late goes on in a daemon thread, and nobody waits for it. Any other exception is raised here at once.
    """
    rest, results, ended = deque(enumerate(works)), [None] * len(works), threading.Condition()
    left, bugs = {i: None for i in range(len(works))}, []

    def take() -> None:
        while True:
            with ended:
                if not rest or bugs:
                    return
                i, work = rest.popleft()
            try:
                found: Any = work()
            except StepError as trouble:
                found = trouble
            except BaseException as bug:  # an interrupted run among them: the caller must see it
                with ended:
                    bugs.append(bug)
                    ended.notify()
                return
            with ended:
                if i in left:
                    results[i] = found
                    del left[i]
                ended.notify()

    for _ in range(min(most, len(works))):
        threading.Thread(target=take, daemon=True).start()
    until = None if limit_s is None else time.monotonic() + limit_s
    with ended:
        while left and not bugs:
            wait = None if until is None else until - time.monotonic()
            if wait is not None and wait <= 0:
                break
            ended.wait(wait)
        rest.clear()
        late, left = list(left), {}
    if bugs:
        raise bugs[0]
    for i in late:
        results[i] = StepError(f"no end within {limit_s:g} s")
    return results
