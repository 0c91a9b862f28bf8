"""A seccomp filter that lets the named system calls through and refuses every other, written as raw BPF."""

import ctypes
import os
import struct

from . import syscalls
from .kernel import check, prctl

ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSE, NOT_THERE = 0x00050000 | 1, 0x00050000 | 38  # EPERM; ENOSYS makes libc fall back from clone3 to clone
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LOAD, _EQUAL, _AT_LEAST, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x25, 0x45, 0x06
_PR_SET_SECCOMP, _FILTER = 22, 2


def supported() -> bool:
    return os.uname().machine in ARCHITECTURES


def build(processes: bool, shell: bool = False, without: list[str] = ()) -> tuple[bytes, ctypes.Array]:
    """The filter for `install`: its header, and the program that this points to.

    processes: also fork, exec, signals and files, for python() in its own namespaces. shell: also
    what the commands of a workspace need. without: names of calls that are refused all the same.
    """
    machine = os.uname().machine
    code = [_op(_LOAD, 4), _op(_EQUAL, ARCHITECTURES[machine], 1, 0), _op(_RETURN, KILL), _op(_LOAD, 0)]
    if machine == "x86_64":  # the x32 calls have numbers of their own
        code += [_op(_AT_LEAST, 0x40000000, 0, 1), _op(_RETURN, REFUSE)]
    column = 0 if machine == "x86_64" else 1
    for entry in {**syscalls.CHECKED, **(syscalls.LOCKS if shell else {})}.values():
        code += _checked(entry[column], entry[2], entry[3])
    code += [_op(_EQUAL, syscalls.CLONE3[column], 0, 1), _op(_RETURN, NOT_THERE)]
    if processes:
        code += _clone_without_namespaces(syscalls.CLONE[column])
    names = syscalls.COMPUTE + (syscalls.PROCESSES if processes else "") + (syscalls.SHELL if shell else "")
    code += _tree(_runs(syscalls.numbers(names, machine, without)))
    program = ctypes.create_string_buffer(b"".join(code))
    return struct.pack("HxxxxxxP", len(code), ctypes.addressof(program)), program


def install(built: tuple[bytes, ctypes.Array]) -> None:
    """Puts this process, for good, under the filter. Needs no_new_privs."""
    check(prctl(_PR_SET_SECCOMP, _FILTER, built[0], 0, 0), "seccomp")


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _checked(number: int, argument: int, values: tuple[int, ...]) -> list[bytes]:
    """If it is call `number`: allowed when the low half of `argument` is one of `values`, else refused."""
    tests = [_op(_EQUAL, value, len(values) - i, 0) for i, value in enumerate(values)]
    body = [_op(_LOAD, 16 + 8 * argument), *tests, _op(_RETURN, REFUSE), _op(_RETURN, ALLOW)]
    return [_op(_EQUAL, number, 0, len(body)), *body]


def _clone_without_namespaces(number: int) -> list[bytes]:
    body = [_op(_LOAD, 16), _op(_ANY_BIT, syscalls.NEW_NAMESPACES, 0, 1), _op(_RETURN, REFUSE), _op(_RETURN, ALLOW)]
    return [_op(_EQUAL, number, 0, len(body)), *body]


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Ascending numbers as (first, last) of unbroken stretches."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _tree(runs: list[tuple[int, int]]) -> list[bytes]:
    """A binary search: the kernel walks about eight instructions a call, and installing is cheap."""
    if len(runs) == 1:
        first, last = runs[0]
        return [_op(_AT_LEAST, first, 0, 2), _op(_ABOVE, last, 1, 0), _op(_RETURN, ALLOW), _op(_RETURN, REFUSE)]
    middle = len(runs) // 2
    left, right = _tree(runs[:middle]), _tree(runs[middle:])
    return [_op(_AT_LEAST, runs[middle][0], len(left), 0), *left, *right]
