"""Who may use the machine's device right now: models side by side, or one training alone."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LOOK_S = 0.5  # between looks whether the run is being stopped
HERE = "models in this process"


class Device:
    """On one device a training and a model beside it would both be many times slower, or not fit.

    Whoever uses it has a name: all models in this process share one, a server has its own. Uses go on side by side while
    all of their users have the device; others wait until it is free, and `hand_over` is then told the users that get it.
    check: called while waiting; raises once the run is being stopped. A training that waits goes before those who come
    after it: the uses under way end first, and none begins.
    """

    def __init__(self, check: Callable[[], None], hand_over: Callable[[frozenset[str]], None] = lambda _: None):
        self._check, self._hand_over = check, hand_over
        self._changed = threading.Condition()
        self._users: frozenset[str] = frozenset()  # those who have it, or had it last
        self._sharing = self._waiting = 0
        self._training = self._handing = False

    @contextmanager
    def shared(self, *users: str) -> Iterator[None]:
        """While open, these users, models, are at work. Raises what `hand_over` raises."""
        asked = frozenset(users or (HERE,))
        with self._changed:
            self._until(lambda: not (self._training or self._waiting or self._handing) and self._has_room(asked))
            self._sharing += 1
            self._handing = new = not asked <= self._users
        try:
            if new:
                self._give(asked)
            yield
        finally:
            with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self, *asked: str) -> Iterator[None]:
        """While open, a training has the device, beside the models that it asks itself."""
        with self._changed:
            self._waiting += 1
            try:
                self._until(lambda: not (self._training or self._sharing))
                self._training = self._handing = True
            finally:
                self._waiting -= 1
                self._changed.notify_all()
        try:
            self._give(frozenset(asked))
            yield
        finally:
            with self._changed:
                self._training = False
                self._changed.notify_all()

    def _has_room(self, asked: frozenset[str]) -> bool:
        return not self._sharing or asked <= self._users

    def _give(self, users: frozenset[str]) -> None:
        """Lets the others leave, without the lock: a server takes its time."""
        given: frozenset[str] = frozenset()  # where it fails, the next who comes tries again
        try:
            self._hand_over(users)
            given = users
        finally:
            with self._changed:
                self._users, self._handing = given, False
                self._changed.notify_all()

    def _until(self, free: Callable[[], bool]) -> None:
        while not self._changed.wait_for(free, LOOK_S):
            self._check()
