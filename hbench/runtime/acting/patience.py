"""When what fails now and then, as an outcome of its own, fails so often that it must be down."""

from hbench.core.failure import StepError


class Patience:
    """Shared by the rollouts of one act step. most: failures in a row, with nothing that works between, that are no outcome."""

    def __init__(self, most: int = 8):
        self._most, self._failed = most, 0

    def worked(self) -> None:
        self._failed = 0

    def failed(self, why: str) -> None:
        """Raises StepError, with `why` of this one, at the `most`-th in a row."""
        self._failed += 1
        if self._failed >= self._most:
            raise StepError(f"{why} (this was number {self._failed} in a row)")
