"""Who may use the machine's device right now: models in this process side by side, or one training alone."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LOOK_S = 0.5  # between looks whether the run is being stopped


class Device:
    """On one device a training and a model beside it would both be many times slower.

    check: called while waiting; raises once the run is being stopped. A training that waits goes before those who come
    after it: the steps under way end first, and none begins.
    """

    def __init__(self, check: Callable[[], None]):
        self._check = check
        self._changed = threading.Condition()
        self._sharing = self._waiting = 0
        self._training = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        """While open, a model of this process is at work."""
        with self._changed:
            self._until(lambda: not (self._training or self._waiting))
            self._sharing += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While open, nobody else has the device."""
        with self._changed:
            self._waiting += 1
            try:
                self._until(lambda: not (self._training or self._sharing))
                self._training = True
            finally:
                self._waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._training = False
                self._changed.notify_all()

    def _until(self, free: Callable[[], bool]) -> None:
        while not self._changed.wait_for(free, LOOK_S):
            self._check()
