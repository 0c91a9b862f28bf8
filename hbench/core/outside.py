"""What came of a program of somebody else's."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finished:
    """code: its exit code, None where it ran out of time. Long streams keep their beginning and their end."""

    code: int | None
    stdout: str
    stderr: str
