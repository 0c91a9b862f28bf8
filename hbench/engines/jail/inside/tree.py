"""A process tree of one's own: generations that wait for each other, and a count of processes apart."""

import os

from . import kernel


def wait_in_parent() -> None:
    """Forks, and returns in the child. The parent lets go of everything, reaps, and ends with the child's exit code."""
    pid = os.fork()
    if pid == 0:
        return
    os.closerange(0, 64)
    while True:
        ended, status = os.wait()
        if ended == pid:
            os._exit(exit_code(status))


def exit_code(status: int) -> int:
    """Of a wait status, as a shell tells it: 128 and the signal's number for a process that was killed."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def settle(user: int | None) -> None:
    """In the first process of a new tree: gives up what only making it needed, and returns in the second, its own leader."""
    if user is not None:
        kernel.become(user)
    _count_apart()
    kernel.drop_capabilities()
    kernel.die_with_parent()
    wait_in_parent()
    os.setsid()


def _count_apart() -> None:
    """A user namespace, so that the limit on processes counts this tree's own and nobody else's."""
    try:
        kernel.leave("user")
    except OSError:
        pass
